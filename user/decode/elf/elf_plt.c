/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/elf/elf_plt.h"

#include <elf.h>
#include <string.h>

#include "base/scope.h"
#include "base/search.h"
#include "base/sort_keys.h"

#define RELOCATIONS_AT_ONCE 512

/* A PLT stub that jumps through a word of the global offset table. */
struct slot {
	uint64_t address, word;
	uint32_t size_bytes;
	uint32_t symbol;   /* index in .dynsym; 0 if there is none */
	uint64_t resolver; /* for an IRELATIVE relocation */
	bool known;
};

struct search {
	const struct elf_file *elf;
	VEC(struct slot) slots;
	VEC(struct sort_key) by_word;
	size_t unknown; /* slots without a relocation so far */
};

static void search_deinit(struct search *search)
{
	vec_deinit(&search->slots);
	vec_deinit(&search->by_word);
}

/* Read a whole section. *ret is owned by the caller. */
static int section_read(const struct elf_file *elf, const struct elf_section *section,
			uint64_t max_bytes, uint8_t **ret)
{
	AUTO_FREE uint8_t *bytes = NULL;
	int err;

	if (section->size_bytes > max_bytes)
		return -E2BIG;
	if (!blob_has(elf->blob, section->file_offset, section->size_bytes))
		return -EBADMSG;
	bytes = malloc(section->size_bytes + 1);
	if (!bytes)
		return -ENOMEM;
	err = blob_read(elf->blob, section->file_offset, bytes, section->size_bytes);
	if (err)
		return err;
	bytes[section->size_bytes] = 0;
	*ret = TAKE_PTR(bytes);
	return 0;
}

/* Decode "jmp *word(%rip)", optionally preceded by endbr64 and a bnd prefix. */
static bool decode_jump(const uint8_t *code, size_t size_bytes, uint64_t address, uint64_t *ret)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	size_t at = 0;
	int32_t distance;

	if (size_bytes >= sizeof(endbr64) && !memcmp(code, endbr64, sizeof(endbr64)))
		at += sizeof(endbr64);
	if (at < size_bytes && code[at] == 0xf2)
		at++;
	if (size_bytes - at < 6 || code[at] != 0xff || code[at + 1] != 0x25)
		return false;
	memcpy(&distance, code + at + 2, sizeof(distance));
	*ret = address + at + 6 + (uint64_t)(int64_t)distance;
	return true;
}

/* A section without an entry size has entries as close as its alignment allows. */
static uint32_t entry_step(const struct elf_section *section)
{
	if (section->entry_bytes >= 8 && section->entry_bytes <= 64)
		return (uint32_t)section->entry_bytes;
	return section->alignment == 8 ? 8 : 16;
}

const struct elf_section *elf_plt_section(const struct elf_file *elf, size_t i)
{
	static const char *const names[ELF_PLT_SECTIONS] = {".plt", ".plt.sec", ".plt.got"};
	const struct elf_section *section = elf_file_section(elf, names[i]);

	return section && section->type == SHT_PROGBITS ? section : NULL;
}

static int add_slots(struct search *search, const struct elf_section *section)
{
	AUTO_FREE uint8_t *code = NULL;
	uint32_t step;
	int err;

	if (!section)
		return 0;
	err = section_read(search->elf, section, ELF_PLT_BYTES_MAX, &code);
	if (err)
		return err;
	step = entry_step(section);
	for (uint64_t at = 0; at < section->size_bytes; at += step) {
		uint64_t left = section->size_bytes - at;
		struct slot slot = {
			.address = section->address + at,
			.size_bytes = left < step ? (uint32_t)left : step,
		};

		if (decode_jump(code + at, slot.size_bytes, slot.address, &slot.word) &&
		    vec_push(&search->slots, slot))
			return -ENOMEM;
	}
	return 0;
}

static int sort_slots(struct search *search)
{
	if (vec_reserve(&search->by_word, search->slots.size))
		return -ENOMEM;
	for (size_t i = 0; i < search->slots.size; i++)
		search->by_word.data[i] =
			(struct sort_key){search->slots.data[i].word, (uint32_t)i, 0};
	search->by_word.size = search->unknown = search->slots.size;
	return sort_keys(search->by_word.data, search->by_word.size);
}

/* A relocation of a word applies to all slots that jump through the word. */
static void apply(struct search *search, const Elf64_Rela *relocation)
{
	uint32_t type = ELF64_R_TYPE(relocation->r_info);
	const struct sort_key *words = search->by_word.data;
	size_t at, count = search->by_word.size;

	if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_IRELATIVE)
		return;
	at = partition_point(0, count, i, words[i].key < relocation->r_offset);
	for (; at < count && words[at].key == relocation->r_offset; at++) {
		struct slot *slot = &search->slots.data[words[at].item];

		if (slot->known)
			return; /* the other slots of this word are known too */
		slot->known = true;
		search->unknown--;
		if (type == R_X86_64_IRELATIVE)
			slot->resolver = (uint64_t)relocation->r_addend;
		else
			slot->symbol = (uint32_t)ELF64_R_SYM(relocation->r_info);
	}
}

static int apply_relocations(struct search *search, const char *name)
{
	const struct elf_section *section = elf_file_section(search->elf, name);
	Elf64_Rela some[RELOCATIONS_AT_ONCE];
	uint64_t offset, left;

	if (!section || section->type != SHT_RELA)
		return 0;
	if (section->size_bytes > ELF_TABLE_BYTES_MAX)
		return -E2BIG;
	offset = section->file_offset;
	left = section->size_bytes / sizeof(*some);
	while (left && search->unknown) {
		size_t count = left < RELOCATIONS_AT_ONCE ? left : RELOCATIONS_AT_ONCE;
		int err;

		err = blob_read(search->elf->blob, offset, some, count * sizeof(*some));
		if (err)
			return err;
		for (size_t i = 0; i < count; i++)
			apply(search, &some[i]);
		offset += count * sizeof(*some);
		left -= count;
	}
	return 0;
}

static int collect_known(const struct search *search, struct elf_plt *ret)
{
	if (vec_reserve(&ret->entries, search->slots.size))
		return -ENOMEM;
	vec_for_each (slot, &search->slots) {
		struct elf_plt_entry entry = {
			.address = slot->address,
			.size_bytes = slot->size_bytes,
			.symbol = slot->symbol,
			.resolver = slot->resolver,
		};

		if (slot->known && (entry.symbol || entry.resolver))
			ret->entries.data[ret->entries.size++] = entry;
	}
	return 0;
}

int elf_file_plt(const struct elf_file *elf, struct elf_plt *ret)
{
	CLEANUP(search_deinit) struct search search = {.elf = elf};
	struct elf_plt plt = {0};
	int err = 0;

	for (size_t i = 0; i < ELF_PLT_SECTIONS && !err; i++)
		err = add_slots(&search, elf_plt_section(elf, i));
	err = err ?: sort_slots(&search);
	err = err ?: apply_relocations(&search, ".rela.plt");
	err = err ?: apply_relocations(&search, ".rela.dyn");
	if (!err && search.slots.size)
		err = collect_known(&search, &plt);
	if (err) {
		elf_plt_deinit(&plt);
		return err;
	}
	*ret = plt;
	return 0;
}

void elf_plt_deinit(struct elf_plt *plt)
{
	vec_deinit(&plt->entries);
	*plt = (struct elf_plt){0};
}
