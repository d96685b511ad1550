/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/elf/elf_plt.h"

#include <elf.h>
#include <stdio.h>
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
	bool narrow;  /* a file of 32-bit code */
	uint64_t got; /* in such a file: the address that stubs have in ebx */
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

/*
 * Decode "jmp *word(%rip)", or "jmp *word" and "jmp *word(%ebx)" in 32-bit code, optionally
 * preceded by endbr64 or endbr32, and a bnd prefix.
 */
static bool decode_jump(const struct search *search, const uint8_t *code, const struct slot *slot,
			uint64_t *ret)
{
	const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, search->narrow ? 0xfb : 0xfa};
	size_t at = 0, size_bytes = slot->size_bytes;
	int32_t distance;

	if (size_bytes >= sizeof(endbr) && !memcmp(code, endbr, sizeof(endbr)))
		at += sizeof(endbr);
	if (at < size_bytes && code[at] == 0xf2)
		at++;
	if (size_bytes - at < 6 || code[at] != 0xff ||
	    (code[at + 1] != 0x25 && !(search->narrow && code[at + 1] == 0xa3)))
		return false;
	memcpy(&distance, code + at + 2, sizeof(distance));
	if (!search->narrow)
		*ret = slot->address + at + 6 + (uint64_t)(int64_t)distance;
	else if (code[at + 1] == 0x25)
		*ret = (uint32_t)distance;
	else
		*ret = (uint32_t)(search->got + (uint32_t)distance);
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

		if (decode_jump(search, code + at, &slot, &slot.word) &&
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

/* Returns the word at an address of a 32-bit file: the addend of its relocation. 0: none. */
static uint32_t narrow_addend(const struct elf_file *elf, uint64_t address)
{
	uint64_t offset;
	uint32_t word;

	if (!elf_file_offset(elf, address, &offset) ||
	    blob_read(elf->blob, offset, &word, sizeof(word)))
		return 0;
	return word;
}

static int relocations_read(const struct search *search, uint64_t offset, size_t count,
			    Elf64_Rela ret[RELOCATIONS_AT_ONCE])
{
	Elf32_Rel some[RELOCATIONS_AT_ONCE];
	int err;

	if (!search->narrow)
		return blob_read(search->elf->blob, offset, ret, count * sizeof(*ret));
	err = blob_read(search->elf->blob, offset, some, count * sizeof(*some));
	for (size_t i = 0; i < count && !err; i++) {
		uint64_t type = ELF32_R_TYPE(some[i].r_info);

		ret[i] = (Elf64_Rela){.r_offset = some[i].r_offset};
		if (type == R_386_IRELATIVE) {
			type = R_X86_64_IRELATIVE;
			ret[i].r_addend = narrow_addend(search->elf, some[i].r_offset);
		} else if (type != R_386_JMP_SLOT && type != R_386_GLOB_DAT) {
			type = R_X86_64_NONE;
		}
		ret[i].r_info = ELF64_R_INFO(ELF32_R_SYM(some[i].r_info), type);
	}
	return err;
}

_Static_assert(R_386_JMP_SLOT == R_X86_64_JUMP_SLOT && R_386_GLOB_DAT == R_X86_64_GLOB_DAT,
	       "the same numbers");

/* name: without .rel or .rela */
static int apply_relocations(struct search *search, const char *name)
{
	char full[16];
	const struct elf_section *section;
	size_t entry_bytes = search->narrow ? sizeof(Elf32_Rel) : sizeof(Elf64_Rela);
	Elf64_Rela some[RELOCATIONS_AT_ONCE];
	uint64_t offset, left;

	snprintf(full, sizeof(full), "%s%s", search->narrow ? ".rel" : ".rela", name);
	section = elf_file_section(search->elf, full);
	if (!section || section->type != (search->narrow ? SHT_REL : SHT_RELA))
		return 0;
	if (section->size_bytes > ELF_TABLE_BYTES_MAX)
		return -E2BIG;
	offset = section->file_offset;
	left = section->size_bytes / entry_bytes;
	while (left && search->unknown) {
		size_t count = left < RELOCATIONS_AT_ONCE ? left : RELOCATIONS_AT_ONCE;
		int err = relocations_read(search, offset, count, some);

		if (err)
			return err;
		for (size_t i = 0; i < count; i++)
			apply(search, &some[i]);
		offset += count * entry_bytes;
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
	CLEANUP(search_deinit)
	struct search search = {.elf = elf, .narrow = elf->machine == EM_386};
	const struct elf_section *got = elf_file_section(elf, ".got.plt");
	struct elf_plt plt = {0};
	int err = 0;

	got = got ?: elf_file_section(elf, ".got");
	search.got = got ? got->address : 0;
	for (size_t i = 0; i < ELF_PLT_SECTIONS && !err; i++)
		err = add_slots(&search, elf_plt_section(elf, i));
	err = err ?: sort_slots(&search);
	err = err ?: apply_relocations(&search, ".plt");
	err = err ?: apply_relocations(&search, ".dyn");
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
