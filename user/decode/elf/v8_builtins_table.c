/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/elf/v8_builtins_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"

/*
 * An entry begins with the offset of the builtin in the code and its size in bytes. What follows,
 * and so the size of an entry, depends on the version: 32 bytes in V8 10 and 11, 12 in 12 and 13.
 * The order is that of the code. V8 can be built with another one; then no table is found.
 */
#define ENTRY_BYTES_MAX 32
#define ENTRY_ALIGNMENT 4
#define TABLE_ALIGNMENT 8

/* Each builtin begins at a multiple of this; at least one byte of padding is before the next one.
 */
#define CODE_ALIGNMENT	  32
#define PADDING_BYTES_MAX 128
#define PADDING		  0xcc

#define BUILTIN_BYTES_MAX (1u << 20)

/* What a file can make this cost: tables that are tried, and bytes of padding that are compared. */
#define TABLES_MAX  16
#define PADDING_MAX (16u << 20)

/* Data is searched in pieces. Each begins with the end of the one before: a table's beginning. */
#define PIECE_BYTES	(256u << 10)
#define BEGINNING_BYTES (8 * ENTRY_BYTES_MAX)

struct search {
	const struct elf_file *elf;
	uint64_t low;
	uint8_t *code; /* from low on, at most V8_BUILTINS_CODE_MAX bytes */
	uint64_t code_bytes;
	uint64_t data_left; /* of V8_BUILTINS_DATA_MAX */
	uint32_t tables_left, padding_left;
	v8_builtin_codes *found;
};

struct entry {
	uint32_t offset, size_bytes;
};

static struct entry entry_at(const uint8_t *table, size_t number, size_t entry_bytes)
{
	struct entry entry;

	memcpy(&entry, table + number * entry_bytes, sizeof(entry));
	return entry;
}

/* Returns true if the code of `next` can be behind that of an entry. */
static bool continues(const struct entry *entry, const struct entry *next)
{
	uint64_t end = (uint64_t)entry->offset + entry->size_bytes;

	return next->offset > end && next->offset - end <= PADDING_BYTES_MAX &&
	       next->offset % CODE_ALIGNMENT == 0 && next->size_bytes &&
	       next->size_bytes <= BUILTIN_BYTES_MAX;
}

/* Returns how many entries of a size a table has, of which the first one is valid; at most `max`.
 */
static size_t count_entries(const uint8_t *table, size_t bytes, size_t entry_bytes, size_t max)
{
	struct entry entry = entry_at(table, 0, entry_bytes), next;
	size_t count = 1;

	for (; count < max && count * entry_bytes + sizeof(entry) <= bytes; count++) {
		next = entry_at(table, count, entry_bytes);
		if (!continues(&entry, &next))
			break;
		entry = next;
	}
	return count;
}

/* Returns the size of the entries of the table that may begin at `table`, or 0. */
static size_t find_entry_bytes(const uint8_t *table)
{
	struct entry first = entry_at(table, 0, 0);

	if (first.offset || !first.size_bytes || first.size_bytes > BUILTIN_BYTES_MAX)
		return 0;
	for (size_t bytes = sizeof(struct entry); bytes <= ENTRY_BYTES_MAX;
	     bytes += ENTRY_ALIGNMENT) {
		size_t count = BEGINNING_BYTES / ENTRY_BYTES_MAX;

		if (count_entries(table, BEGINNING_BYTES, bytes, count) == count)
			return bytes;
	}
	return 0;
}

/* Returns true if padding is behind the first `count` builtins of a table whose code is at `at`. */
static bool is_padded(struct search *search, const uint8_t *table, size_t entry_bytes, size_t count,
		      uint64_t at)
{
	for (size_t i = 0; i + 1 < count; i++) {
		struct entry entry = entry_at(table, i, entry_bytes);
		uint64_t next = entry_at(table, i + 1, entry_bytes).offset;

		for (uint64_t byte = (uint64_t)entry.offset + entry.size_bytes; byte < next;
		     byte++) {
			if (search->code[at + byte] != PADDING || !search->padding_left)
				return false;
			search->padding_left--;
		}
	}
	return true;
}

/* Find the code of a table. Returns 0 with the builtins in search->found, -ENOENT or -ENOMEM. */
static int find_code(struct search *search, const uint8_t *table, size_t entry_bytes, size_t count)
{
	struct entry last = entry_at(table, count - 1, entry_bytes);
	uint64_t bytes = (uint64_t)last.offset + last.size_bytes;
	uint64_t at = -search->low % CODE_ALIGNMENT;
	int err = 0;

	for (;; at += CODE_ALIGNMENT) {
		if (bytes > search->code_bytes || at > search->code_bytes - bytes)
			return -ENOENT;
		if (is_padded(search, table, entry_bytes, count, at))
			break;
	}
	for (size_t i = 0; i < count && !err; i++) {
		struct entry entry = entry_at(table, i, entry_bytes);
		struct v8_builtin_code code = {search->low + at + entry.offset, entry.size_bytes};

		err = vec_push(search->found, code);
	}
	return err;
}

/* Try the table at a file offset, of which bytes_left can be read. Returns as find_code(). */
static int try_table(struct search *search, uint64_t offset, uint64_t bytes_left,
		     size_t entry_bytes)
{
	size_t bytes = V8_BUILTINS_MAX * entry_bytes, count;
	AUTO_FREE uint8_t *table = NULL;
	int err;

	if (bytes > bytes_left)
		bytes = bytes_left;
	table = malloc(bytes);
	if (!table)
		return -ENOMEM;
	err = blob_read(search->elf->blob, offset, table, bytes);
	if (err)
		return err == -EBADMSG ? -ENOENT : err;
	count = count_entries(table, bytes, entry_bytes, V8_BUILTINS_MAX);
	return count < V8_BUILTINS_MIN ? -ENOENT : find_code(search, table, entry_bytes, count);
}

/* Search a range of the file. Returns as find_code(), or the blob's error. */
static int search_range(struct search *search, uint64_t offset, uint64_t bytes)
{
	AUTO_FREE uint8_t *piece = malloc(PIECE_BYTES);
	uint64_t end = offset + bytes;
	int err = -ENOENT;

	if (!piece)
		return -ENOMEM;
	while (err == -ENOENT && end - offset > BEGINNING_BYTES) {
		uint64_t size = end - offset < PIECE_BYTES ? end - offset : PIECE_BYTES;

		err = blob_read(search->elf->blob, offset, piece, size);
		if (err)
			return err == -EBADMSG ? -ENOENT : err;
		err = -ENOENT;
		for (size_t at = 0; at <= size - BEGINNING_BYTES && err == -ENOENT;
		     at += TABLE_ALIGNMENT) {
			size_t entry_bytes = find_entry_bytes(piece + at);

			if (entry_bytes && search->tables_left) {
				search->tables_left--;
				err = try_table(search, offset + at, end - offset - at,
						entry_bytes);
			}
		}
		offset += size == PIECE_BYTES ? PIECE_BYTES - BEGINNING_BYTES : size;
	}
	return err;
}

/* Search the segments that are executable, or those that are not. Returns as search_range(). */
static int search_segments(struct search *search, bool executable)
{
	int err = -ENOENT;

	vec_for_each (segment, &search->elf->segments) {
		uint64_t skip = -segment->address % TABLE_ALIGNMENT, bytes = segment->file_bytes;

		if (segment->executable != executable || bytes <= skip || err != -ENOENT)
			continue;
		bytes -= skip;
		if (bytes > search->data_left)
			bytes = search->data_left;
		search->data_left -= bytes;
		err = search_range(search, segment->file_offset + skip, bytes);
	}
	return err;
}

int v8_builtins_table_find(const struct elf_file *elf, uint64_t low, uint64_t high,
			   v8_builtin_codes *ret)
{
	struct search search = {
		.elf = elf,
		.low = low,
		.code_bytes = high - low,
		.data_left = V8_BUILTINS_DATA_MAX,
		.tables_left = TABLES_MAX,
		.padding_left = PADDING_MAX,
		.found = ret,
	};
	AUTO_FREE uint8_t *code = NULL;
	uint64_t offset;
	int err;

	if (search.code_bytes > V8_BUILTINS_CODE_MAX)
		search.code_bytes = V8_BUILTINS_CODE_MAX;
	if (!elf_file_offset(elf, low, &offset))
		return -ENOENT;
	code = malloc(search.code_bytes + 1);
	if (!code)
		return -ENOMEM;
	err = blob_read(elf->blob, offset, code, search.code_bytes);
	search.code = code;
	/* Linkers place constant data into a segment of its own, or in front of the code. */
	err = err ?: search_segments(&search, false);
	if (err == -ENOENT)
		err = search_segments(&search, true);
	return err == -EBADMSG ? -ENOENT : err;
}
