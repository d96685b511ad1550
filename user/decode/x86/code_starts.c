/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/code_starts.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/search.h"
#include "base/sort_keys.h"

#define PIECE_BYTES    (64u << 10)
#define OVERLAP_BYTES  8 /* more than the bytes of a reference */
#define RELOCS_AT_ONCE 1024

#define CALL_BYTES	   5
#define FUNCTION_ALIGNMENT 16 /* of functions behind padding */

/* A function does not return if another one starts behind one of this number of calls. */
#define CALLS_PER_LAST_CALL 64

struct collector {
	const struct elf_file *elf;
	uint64_t low, high;
	VEC(struct sort_key) keys;
};

static void collector_deinit(struct collector *all)
{
	vec_deinit(&all->keys);
}

/* behind: where code goes on behind a call of the address, or 0. */
static int collect(struct collector *all, uint64_t address, uint32_t signs, uint64_t behind)
{
	struct sort_key key = {
		.key = address - all->low,
		.item = signs,
		.weight = behind ? (uint32_t)(behind - all->low) : 0,
	};

	if (address < all->low || address >= all->high || all->keys.size >= 4 * CODE_STARTS_MAX)
		return 0;
	return vec_push(&all->keys, key);
}

static int collect_symbol(void *all, const struct elf_symbol *symbol, uint32_t number)
{
	(void)number;
	return collect(all, symbol->address,
		       symbol->bind == STB_LOCAL ? CODE_START_MENTIONED : CODE_START_NAMED, 0);
}

static int collect_symbols(struct collector *all, bool dynamic)
{
	struct elf_symbol_table table;
	int err = elf_symbol_table_find(all->elf, dynamic, &table);

	if (!err)
		err = elf_symbol_table_each(all->elf, all->elf->blob, &table, collect_symbol, all);
	return err == -ENOENT || err == -EBADMSG || err == -E2BIG ? 0 : err;
}

static int collect_relocations(struct collector *all, const struct elf_section *section)
{
	AUTO_FREE Elf64_Rela *some = calloc(RELOCS_AT_ONCE, sizeof(*some));
	uint64_t left = section->size_bytes / sizeof(*some);
	uint64_t offset = section->file_offset;
	int err = 0;

	if (!some)
		return -ENOMEM;
	if (left > CODE_STARTS_RELOC_MAX / sizeof(*some))
		left = CODE_STARTS_RELOC_MAX / sizeof(*some);
	while (left && !err) {
		size_t count = left < RELOCS_AT_ONCE ? left : RELOCS_AT_ONCE;

		err = blob_read(all->elf->blob, offset, some, count * sizeof(*some));
		for (size_t i = 0; i < count && !err; i++) {
			uint64_t type = ELF64_R_TYPE(some[i].r_info);

			if (type == R_X86_64_RELATIVE || type == R_X86_64_IRELATIVE)
				err = collect(all, (uint64_t)some[i].r_addend, CODE_START_MENTIONED,
					      0);
		}
		left -= count;
		offset += count * sizeof(*some);
	}
	return err == -EBADMSG ? 0 : err;
}

static int collect_section(struct collector *all, const struct elf_section *section)
{
	if (section->type == SHT_RELA && section->flags & SHF_ALLOC)
		return collect_relocations(all, section);
	if (section->flags & SHF_EXECINSTR) /* .init and .fini are functions */
		return collect(all, section->address, CODE_START_MENTIONED, 0);
	return 0;
}

/* Returns the target of a reference whose 4 bytes of distance are at bytes[at]. */
static uint64_t target_of(const uint8_t *bytes, size_t at, uint64_t address)
{
	int32_t distance;

	memcpy(&distance, bytes + at, sizeof(distance));
	return address + at + sizeof(distance) + (uint64_t)(int64_t)distance;
}

/* Returns where code goes on behind a call: at its end, or behind padding. */
static uint64_t behind_call(const uint8_t *end, uint64_t address)
{
	static const uint8_t nops[][3] = {
		{0x90}, {0xcc}, {0x66, 0x90}, {0x0f, 0x1f}, {0x66, 0x0f, 0x1f}, {0x66, 0x2e},
	};

	for (size_t i = 0; i < ARRAY_SIZE(nops); i++) {
		size_t size = nops[i][2] ? 3 : nops[i][1] ? 2 : 1;

		if (!memcmp(end, nops[i], size))
			return (address + FUNCTION_ALIGNMENT - 1) & -(uint64_t)FUNCTION_ALIGNMENT;
	}
	return address;
}

/* Collect the references that begin in bytes[0..count). OVERLAP_BYTES follow. */
static int collect_piece(struct collector *all, const uint8_t *bytes, size_t count,
			 uint64_t address)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		if (bytes[i] == 0xe8) /* call */
			err = collect(
				all, target_of(bytes, i + 1, address), CODE_START_CALLED,
				behind_call(bytes + i + CALL_BYTES, address + i + CALL_BYTES));
		else if ((bytes[i] & 0xfb) == 0x48 && bytes[i + 1] == 0x8d &&
			 (bytes[i + 2] & 0xc7) == 5) /* lea distance(%rip) */
			err = collect(all, target_of(bytes, i + 3, address), CODE_START_ADDRESSED,
				      0);
	}
	return err;
}

static int collect_references(struct collector *all, const struct elf_segment *segment)
{
	AUTO_FREE uint8_t *bytes = calloc(1, PIECE_BYTES + OVERLAP_BYTES);
	int err = 0;

	if (!bytes)
		return -ENOMEM;
	for (uint64_t at = 0; at < segment->file_bytes && !err; at += PIECE_BYTES) {
		uint64_t left = segment->file_bytes - at;
		size_t count =
			left < PIECE_BYTES + OVERLAP_BYTES ? left : PIECE_BYTES + OVERLAP_BYTES;

		memset(bytes, 0, PIECE_BYTES + OVERLAP_BYTES);
		err = blob_read(all->elf->blob, segment->file_offset + at, bytes, count);
		if (!err)
			err = collect_piece(all, bytes, count < PIECE_BYTES ? count : PIECE_BYTES,
					    segment->address + at);
	}
	return err == -EBADMSG ? 0 : err;
}

static int collect_all(struct collector *all)
{
	uint64_t text_bytes = 0;
	int err = collect_symbols(all, false);

	err = err ?: collect_symbols(all, true);
	for (size_t i = 0; i < all->elf->sections.size && !err; i++)
		err = collect_section(all, &all->elf->sections.data[i]);
	for (size_t i = 0; i < all->elf->segments.size && !err; i++) {
		const struct elf_segment *segment = &all->elf->segments.data[i];

		if (!segment->executable)
			continue;
		if (segment->file_bytes > CODE_STARTS_TEXT_MAX - text_bytes)
			break;
		text_bytes += segment->file_bytes;
		err = collect_references(all, segment);
	}
	return err ?: sort_keys(all->keys.data, all->keys.size);
}

static int add_starts(struct code_starts *starts, const struct collector *all)
{
	vec_for_each (key, &all->keys) {
		struct code_start *last =
			starts->starts.size ? &starts->starts.data[starts->starts.size - 1] : NULL;
		struct code_start start = {(uint32_t)key->key, key->item};

		if (all->low + key->key == starts->entry)
			continue;
		if (last && last->at == start.at)
			last->signs |= start.signs;
		else if (starts->starts.size == CODE_STARTS_MAX)
			break;
		else if (vec_push(&starts->starts, start))
			return -ENOMEM;
	}
	return 0;
}

/* Find the functions that do not return, by what is behind their calls. */
static void find_no_return(struct code_starts *starts, const struct collector *all)
{
	const struct sort_key *keys = all->keys.data;
	size_t next = 0;

	vec_for_each (start, &starts->starts) {
		uint64_t calls = 0, last_calls = 0;

		while (next < all->keys.size && keys[next].key < start->at)
			next++;
		for (; next < all->keys.size && keys[next].key == start->at; next++) {
			uint64_t behind = all->low + keys[next].weight;

			if (!(keys[next].item & CODE_START_CALLED))
				continue;
			calls++;
			last_calls += code_starts_is_function(starts, behind);
		}
		if (last_calls && last_calls >= calls / CALLS_PER_LAST_CALL)
			start->signs |= CODE_START_NO_RETURN;
	}
}

int code_starts_init(struct code_starts *ret, const struct elf_file *elf)
{
	CLEANUP(collector_deinit) struct collector all = {.elf = elf, .low = UINT64_MAX};
	CLEANUP(code_starts_deinit) struct code_starts starts = {.entry = elf->entry};
	int err;

	vec_for_each (segment, &elf->segments) {
		uint64_t end = segment->address + segment->file_bytes;

		if (!segment->executable || !segment->file_bytes)
			continue;
		all.low = segment->address < all.low ? segment->address : all.low;
		all.high = end > all.high ? end : all.high;
	}
	if (all.high > all.low && all.high - all.low > UINT32_MAX)
		all.high = all.low + UINT32_MAX;
	err = collect_all(&all);
	if (err)
		return err;
	starts.low = all.low;
	starts.high = all.high;
	err = add_starts(&starts, &all);
	if (err)
		return err;
	find_no_return(&starts, &all);
	vec_fit(&starts.starts);
	*ret = starts;
	starts = (struct code_starts){0};
	return 0;
}

void code_starts_deinit(struct code_starts *starts)
{
	vec_deinit(&starts->starts);
	*starts = (struct code_starts){0};
}

size_t code_starts_from(const struct code_starts *starts, uint64_t address)
{
	uint64_t relative = address < starts->low ? 0 : address - starts->low;
	const struct code_start *all = starts->starts.data;

	return partition_point((size_t)0, starts->starts.size, i, all[i].at < relative);
}

uint32_t code_starts_at(const struct code_starts *starts, uint64_t address)
{
	size_t i = code_starts_from(starts, address);

	return address >= starts->low && i < starts->starts.size &&
			       starts->starts.data[i].at == address - starts->low
		       ? starts->starts.data[i].signs
		       : 0;
}

bool code_starts_is_function(const struct code_starts *starts, uint64_t address)
{
	return code_starts_at(starts, address) & (CODE_START_NAMED | CODE_START_CALLED);
}
