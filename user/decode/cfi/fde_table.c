/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/cfi/fde_table.h"

#include <elf.h>

#include "base/scope.h"
#include "base/search.h"
#include "base/sort_keys.h"
#include "decode/dwarf/dwarf_constants.h"
#include "decode/dwarf/dwarf_data.h"
#include "decode/cfi/eh_pointer.h"

#define HEADER_BYTES_MAX   32 /* limit of the header before its table */
#define HEADER_VERSION	   1
#define INDEX_WORK_BYTES   (64u << 20)
#define INFLATE_WORK_BYTES (256u << 20)
#define WINDOW_BYTES	   (8u << 10)
#define SEARCH_BYTES	   512 /* window of a binary search */

bool fde_table_has_header(const struct fde_table *table)
{
	return table->header.size_bytes;
}

/* --- .eh_frame_hdr ------------------------------------------------------------- */

struct header {
	uint64_t eh_frame; /* address of .eh_frame */
	uint64_t count;	   /* entries; 0 if there is no table */
	uint64_t table_offset;
	uint8_t encoding;
};

static int header_parse(struct cursor *c, uint64_t address, bool narrow, struct header *ret)
{
	struct eh_pointer_base base = {.here = address, .data = &address, .narrow = narrow};
	uint8_t encodings[4]; /* formats of version, .eh_frame address, count, table */
	struct header header = {0};

	if (cursor_read(c, encodings, sizeof(encodings)) || encodings[0] != HEADER_VERSION)
		return -EBADMSG;
	for (size_t i = 1; i < sizeof(encodings); i++)
		encodings[i] = eh_pointer_encoding(encodings[i], narrow);
	if (eh_pointer_read(c, encodings[1], &base, &header.eh_frame))
		return -EBADMSG;
	header.encoding = encodings[3];
	if (encodings[2] != DWARF_EH_PE_OMIT && encodings[3] != DWARF_EH_PE_OMIT &&
	    eh_pointer_bytes(encodings[3]) &&
	    eh_pointer_read(c, encodings[2], &base, &header.count))
		header.count = 0;
	header.table_offset = cursor_offset(c);
	*ret = header;
	return 0;
}

static int header_entry(struct fde_table *table, uint64_t i, struct fde_table_entry *ret)
{
	size_t entry_bytes = 2 * eh_pointer_bytes(table->encoding);
	struct eh_pointer_base base = {
		.here = table->entries_address + i * entry_bytes,
		.data = &table->header_address,
		.narrow = table->section.narrow,
	};
	struct fde_table_entry entry;
	struct cursor c;
	int err;

	err = section_view(&table->header, i * entry_bytes, entry_bytes, &c);
	if (err)
		return err;
	if (eh_pointer_read(&c, table->encoding, &base, &entry.start) ||
	    eh_pointer_read(&c, table->encoding, &base, &entry.fde))
		return -EBADMSG;
	entry.fde -= table->section.address;
	*ret = entry;
	return 0;
}

/* --- the index ------------------------------------------------------------------ */

/* Returns -EBADMSG for a function outside [low, high) or with an empty or wrapping range. */
static int index_key(const struct fde_table *table, const struct call_frame *frame, uint64_t fde,
		     struct sort_key *ret)
{
	uint64_t start = frame->start - table->low;

	if (frame->start < table->low || frame->start >= table->high ||
	    frame->end <= frame->start || start > UINT32_MAX || fde > UINT32_MAX)
		return -EBADMSG;
	*ret = (struct sort_key){.key = start, .item = (uint32_t)fde};
	return 0;
}

typedef VEC(struct sort_key) frame_keys;

static int index_collect(struct fde_table *table, frame_keys *keys)
{
	struct call_frame frame;
	struct sort_key key;
	uint64_t next;
	int err;

	for (uint64_t offset = 0; keys->size < FDE_INDEX_MAX; offset = next) {
		err = call_frame_read(&table->section, offset, &frame, &next);
		if (!err && !index_key(table, &frame, offset, &key))
			err = vec_push(keys, key);
		if (err == -ENOENT || err == -E2BIG || (err == -EBADMSG && !next))
			return 0;
		if (err && err != -EBADMSG)
			return err;
	}
	return 0;
}

int fde_table_make_index(struct fde_table *table)
{
	struct section_budget *budget = table->section.entries.budget;
	frame_keys keys = {0};
	int err;

	section_reader_deinit(&table->header);
	table->count = 0;
	budget->work_bytes =
		table->section.entries.inflated ? INFLATE_WORK_BYTES : INDEX_WORK_BYTES;
	err = index_collect(table, &keys);
	if (!err)
		err = sort_keys(keys.data, keys.size);
	if (!err)
		err = vec_reserve(&table->index, keys.size);
	for (size_t i = 0; i < keys.size && !err; i++)
		table->index.data[i] = (struct fde_index_entry){
			.start = (uint32_t)keys.data[i].key,
			.fde = keys.data[i].item,
		};
	if (!err)
		table->count = table->index.size = keys.size;
	vec_deinit(&keys);
	return err;
}

/* --- both ------------------------------------------------------------------------ */

int fde_table_at(struct fde_table *table, uint64_t i, struct fde_table_entry *ret)
{
	if (fde_table_has_header(table))
		return header_entry(table, i, ret);
	*ret = (struct fde_table_entry){
		.start = table->low + table->index.data[i].start,
		.fde = table->index.data[i].fde,
	};
	return 0;
}

struct fde_search {
	struct fde_table *table;
	uint64_t address;
	uint64_t least, most; /* starts read so far, below and above the address */
	int err;
};

/* Returns true if entry i starts at or below the address. False after an error. */
static bool starts_below(struct fde_search *search, uint64_t i)
{
	struct fde_table_entry entry;

	if (search->err)
		return false;
	search->err = fde_table_at(search->table, i, &entry);
	if (search->err)
		return false;
	if (entry.start < search->least || entry.start > search->most)
		search->err = -EBADMSG; /* the table is not sorted */
	else if (entry.start <= search->address)
		search->least = entry.start;
	else
		search->most = entry.start;
	return entry.start <= search->address;
}

int fde_table_find(struct fde_table *table, uint64_t address, uint64_t *ret)
{
	struct fde_search search = {.table = table, .address = address, .most = UINT64_MAX};
	uint64_t after = partition_point(0, table->count, i, starts_below(&search, i));

	if (!search.err)
		*ret = after ? after - 1 : 0;
	return search.err;
}

/* Open .eh_frame up to the end of its section, or of its segment if no section matches. */
static int eh_frame_open(const struct elf_file *elf, uint64_t address,
			 struct section_budget *budget, struct section_reader *ret)
{
	const struct elf_section *section = elf_file_section(elf, ".eh_frame");
	struct section_reader reader = {
		.blob = elf->blob, .budget = budget, .window_least = WINDOW_BYTES};

	if (section && section->address == address) {
		reader.file_offset = section->file_offset;
		reader.size_bytes = section->size_bytes;
		*ret = reader;
		return 0;
	}
	vec_for_each (segment, &elf->segments) {
		uint64_t offset = address - segment->address;

		if (address < segment->address || offset >= segment->file_bytes)
			continue;
		reader.file_offset = segment->file_offset + offset;
		reader.size_bytes = segment->file_bytes - offset;
		*ret = reader;
		return 0;
	}
	return -ENOENT;
}

static void section_init(struct fde_table *table, const struct elf_file *elf,
			 struct section_reader *reader, uint64_t address, bool is_eh)
{
	call_frame_section_init(&table->section, reader, address, is_eh);
	table->section.narrow = elf->machine == EM_386;
}

/* Open .eh_frame, and the table of .eh_frame_hdr if its fields are consistent. */
static int header_open(struct fde_table *table, const struct elf_file *elf,
		       struct section_budget *budget)
{
	const struct elf_segment *segment = &elf->frame_header;
	struct section_reader reader = {
		.blob = elf->blob,
		.file_offset = segment->file_offset,
		.size_bytes = segment->file_bytes,
		.budget = budget,
		.window_least = SEARCH_BYTES,
	};
	uint8_t bytes[HEADER_BYTES_MAX];
	struct section_reader section;
	struct header header;
	struct cursor c;
	uint64_t left;
	int err;

	if (!segment->file_bytes)
		return -ENOENT;
	c = cursor_of(bytes,
		      segment->file_bytes < sizeof(bytes) ? segment->file_bytes : sizeof(bytes));
	err = blob_read(elf->blob, segment->file_offset, bytes, cursor_left(&c));
	if (!err)
		err = header_parse(&c, segment->address, elf->machine == EM_386, &header);
	if (!err)
		err = eh_frame_open(elf, header.eh_frame, budget, &section);
	if (err)
		return err == -EBADMSG ? -ENOENT : err;
	section_init(table, elf, &section, header.eh_frame, true);
	left = reader.size_bytes - header.table_offset;
	if (!header.count || header.count > left / (2 * eh_pointer_bytes(header.encoding)))
		return 0;
	table->header = reader;
	table->header.file_offset += header.table_offset;
	table->header.size_bytes = left;
	table->header_address = segment->address;
	table->entries_address = segment->address + header.table_offset;
	table->encoding = header.encoding;
	table->count = header.count;
	return 0;
}

int fde_table_init_eh(struct fde_table *ret, const struct elf_file *elf, uint64_t low,
		      uint64_t high, struct section_budget *budget)
{
	CLEANUP(fde_table_deinit) struct fde_table table = {.low = low, .high = high};
	const struct elf_section *section;
	struct section_reader reader;
	int err;

	err = header_open(&table, elf, budget);
	if (err == -ENOENT) {
		section = elf_file_section(elf, ".eh_frame");
		err = section ? eh_frame_open(elf, section->address, budget, &reader) : -ENOENT;
		if (!err)
			section_init(&table, elf, &reader, section->address, true);
	}
	if (!err && !fde_table_has_header(&table))
		err = fde_table_make_index(&table);
	if (err)
		return err;
	*ret = table;
	table = (struct fde_table){0};
	return 0;
}

int fde_table_init_debug(struct fde_table *ret, const struct elf_file *elf, uint64_t low,
			 uint64_t high, struct section_budget *budget)
{
	CLEANUP(fde_table_deinit) struct fde_table table = {.low = low, .high = high};
	struct section_reader reader;
	int err;

	err = section_reader_init(&reader, elf, ".debug_frame", budget);
	if (err)
		return err;
	reader.window_least = WINDOW_BYTES;
	section_init(&table, elf, &reader, 0, false);
	err = fde_table_make_index(&table);
	if (err)
		return err;
	*ret = table;
	table = (struct fde_table){0};
	return 0;
}

void fde_table_deinit(struct fde_table *table)
{
	call_frame_section_deinit(&table->section);
	section_reader_deinit(&table->header);
	vec_deinit(&table->index);
	*table = (struct fde_table){0};
}

size_t fde_table_bytes(const struct fde_table *table)
{
	return call_frame_section_bytes(&table->section) + section_reader_bytes(&table->header) +
	       table->index.capacity * sizeof(*table->index.data);
}
