/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/elf/go_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/search.h"
#include "base/shared_blob.h"
#include "base/vec.h"

#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u

#define NAME_PIECE_BYTES 128

_Static_assert(sizeof(struct go_table_header) == 72, "as in the file");
_Static_assert(sizeof(struct go_function_fields) == 44, "as in the file");

bool go_table_is_old(const struct go_table *table)
{
	return table->header.magic == MAGIC_1_18;
}

int go_table_read(const struct go_table *table, uint64_t part, uint64_t offset, void *ret,
		  size_t size_bytes)
{
	if (part > table->size_bytes || offset > table->size_bytes - part ||
	    size_bytes > table->size_bytes - part - offset)
		return -EBADMSG;
	return blob_read(&table->blob, table->offset + part + offset, ret, size_bytes);
}

/* --- reading the table ------------------------------------------------------------- */

static const struct elf_section *find_section(const struct elf_file *elf)
{
	/* The second name is that of position-independent programs. */
	return elf_file_section(elf, ".gopclntab")
		       ?: elf_file_section(elf, ".data.rel.ro.gopclntab");
}

static int read_header(struct go_table *table)
{
	struct go_table_header *header = &table->header;
	int err = go_table_read(table, 0, 0, header, sizeof(*header));

	if (err)
		return err;
	if (header->magic != MAGIC_1_18 && header->magic != MAGIC_1_20)
		return -ENOTSUP;
	if (header->zero[0] || header->zero[1] || header->quantum != 1 || header->word_bytes != 8 ||
	    !header->function_count || header->values > table->size_bytes)
		return -EBADMSG;
	return header->function_count > GO_FUNCTIONS_MAX ? -E2BIG : 0;
}

/* Returns true if the functions are in order, inside the program's code. */
static bool are_ordered(const struct go_table *table)
{
	for (uint32_t i = 0; i < table->count; i++) {
		if (table->functions[i].start > table->functions[i + 1].start)
			return false;
	}
	return table->functions[table->count].start <= table->module.text_end - table->module.text;
}

static int read_functions(struct go_table *table)
{
	size_t count = table->header.function_count;
	size_t size_bytes = count * sizeof(*table->functions) + sizeof(table->functions->start);
	int err;

	table->functions = calloc(count + 1, sizeof(*table->functions));
	if (!table->functions)
		return -ENOMEM;
	table->count = (uint32_t)count;
	err = go_table_read(table, table->header.functions, 0, table->functions, size_bytes);
	if (err)
		return err;
	return are_ordered(table) ? 0 : -EBADMSG;
}

int go_table_create(const struct elf_file *elf, struct blob *blob, struct go_table **ret)
{
	const struct elf_section *section = find_section(elf);
	CLEANUP(go_table_destroyp) struct go_table *table = NULL;
	int err = 0;

	if (!section)
		return -ENOENT;
	table = calloc(1, sizeof(*table));
	if (!table)
		return -ENOMEM;
	table->offset = section->file_offset;
	table->size_bytes = section->size_bytes;
	if (blob)
		err = blob_share(blob, &table->blob);
	else
		table->blob = (struct blob){
			.size_bytes = elf->blob->size_bytes,
			.read = elf->blob->read,
			.context = elf->blob->context,
		};
	err = err ?: read_header(table);
	err = err
		      ?: go_module_find(elf, section->address, table->header.function_count,
					!go_table_is_old(table), &table->module);
	err = err ?: read_functions(table);
	vec_for_each (segment, &elf->segments)
		err = err ?: vec_push(&table->elf.segments, *segment);
	if (err)
		return err;
	*ret = TAKE_PTR(table);
	return 0;
}

void go_table_destroy(struct go_table *table)
{
	if (!table)
		return;
	blob_close(&table->blob);
	elf_file_deinit(&table->elf);
	free(table->functions);
	vec_deinit(&table->strings);
	vec_deinit(&table->name);
	free(table);
}

/* --- functions ------------------------------------------------------------------- */

/* Returns the index of the function at an address, or table->count if there is none. */
static uint32_t function_at(const struct go_table *table, uint64_t address)
{
	uint64_t offset = address - table->module.text;

	if (offset < table->functions[0].start || offset >= table->functions[table->count].start)
		return table->count;
	return partition_point(0u, table->count, i, table->functions[i].start <= offset) - 1;
}

uint64_t go_table_start(const struct go_table *table)
{
	return table->module.text + table->functions[0].start;
}

uint64_t go_table_end(const struct go_table *table)
{
	return table->module.text + table->functions[table->count].start;
}

bool go_table_range(const struct go_table *table, uint64_t address, uint64_t *ret_start,
		    uint64_t *ret_end)
{
	uint32_t i = function_at(table, address);

	if (i == table->count)
		return false;
	*ret_start = table->module.text + table->functions[i].start;
	*ret_end = table->module.text + table->functions[i + 1].start;
	return true;
}

int go_table_function(const struct go_table *table, uint64_t address,
		      struct go_function_fields *ret, uint64_t *ret_start, uint64_t *ret_behind)
{
	uint32_t i = function_at(table, address);
	const size_t short_by = go_table_is_old(table) ? sizeof(ret->start_line) : 0;
	const size_t before = offsetof(struct go_function_fields, start_line);
	uint8_t bytes[sizeof(*ret)] = {0};
	uint64_t at;
	int err;

	if (i == table->count)
		return -ENOENT;
	at = table->functions[i].function;
	err = go_table_read(table, table->header.functions, at, bytes, sizeof(*ret) - short_by);
	if (err)
		return err;
	memcpy(ret, bytes, before);
	memcpy((uint8_t *)ret + before + short_by, bytes + before,
	       sizeof(*ret) - before - short_by);
	*ret_start = table->module.text + table->functions[i].start;
	*ret_behind = at + sizeof(*ret) - short_by;
	return 0;
}

/* --- strings --------------------------------------------------------------------- */

int go_table_string(const struct go_table *table, uint64_t part, uint64_t offset,
		    go_strings *strings, size_t *ret_at)
{
	size_t begin = strings->size;
	char piece[NAME_PIECE_BYTES];

	if (part > table->size_bytes || offset >= table->size_bytes - part)
		return -EBADMSG;
	while (strings->size - begin < GO_NAME_BYTES_MAX) {
		uint64_t left = table->size_bytes - part - offset;
		size_t size_bytes = left < sizeof(piece) ? left : sizeof(piece), length;
		int err = go_table_read(table, part, offset, piece, size_bytes);

		if (err)
			return err;
		length = strnlen(piece, size_bytes);
		for (size_t i = 0; i < length && !err; i++)
			err = vec_push(strings, piece[i]);
		if (err)
			return err;
		if (length < size_bytes || size_bytes == left)
			break;
		offset += size_bytes;
	}
	*ret_at = begin;
	return vec_push(strings, '\0');
}

const char *go_table_name(struct go_table *table, uint64_t address)
{
	struct go_function_fields function;
	uint64_t start, behind;
	size_t at;

	table->name.size = 0;
	if (go_table_function(table, address, &function, &start, &behind) ||
	    go_table_string(table, table->header.names, function.name, &table->name, &at))
		return NULL;
	return table->name.data + at;
}

/* --- all functions ----------------------------------------------------------------- */

#define WINDOW_BYTES (64u << 10)

/* A part of the table, of which a window is in memory. */
struct part_window {
	uint64_t part; /* in the table */
	uint64_t offset;
	size_t filled;
	uint8_t *bytes;
};

/* Set *ret to up to `wanted` bytes at an offset of the part. Reduces *left_bytes by what is read.
 */
static int view(const struct go_table *table, struct part_window *window, uint64_t offset,
		size_t wanted, uint64_t *left_bytes, struct cursor *ret)
{
	uint64_t behind = table->size_bytes - window->part, size_bytes;
	int err;

	if (window->part > table->size_bytes || offset >= behind)
		return -EBADMSG;
	behind -= offset;
	wanted = wanted < behind ? wanted : behind;
	if (offset < window->offset || offset - window->offset > window->filled ||
	    window->filled - (offset - window->offset) < wanted) {
		size_bytes = behind < WINDOW_BYTES ? behind : WINDOW_BYTES;
		if (size_bytes > *left_bytes)
			return -E2BIG;
		*left_bytes -= size_bytes;
		window->filled = 0;
		err = go_table_read(table, window->part, offset, window->bytes, size_bytes);
		if (err)
			return err;
		window->offset = offset;
		window->filled = size_bytes;
	}
	*ret = cursor_of(window->bytes + (offset - window->offset), wanted);
	return 0;
}

int go_table_each(const struct go_table *table,
		  int (*take)(void *context, const char *name, uint64_t start), void *context)
{
	AUTO_FREE uint8_t *bytes = malloc(2 * WINDOW_BYTES);
	struct part_window functions = {.part = table->header.functions, .bytes = bytes};
	struct part_window names = {.part = table->header.names, .bytes = bytes + WINDOW_BYTES};
	uint64_t left_bytes = GO_EACH_BYTES_MAX;
	int err = bytes ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < table->count && !err; i++) {
		char name[NAME_PIECE_BYTES] = "";
		struct cursor c;
		uint32_t at;

		err = view(table, &functions, table->functions[i].function, 2 * sizeof(at),
			   &left_bytes, &c);
		err = err ?: cursor_skip(&c, sizeof(at));
		err = err ?: cursor_read(&c, &at, sizeof(at));
		err = err ?: view(table, &names, at, sizeof(name) - 1, &left_bytes, &c);
		if (err)
			break;
		memcpy(name, c.at, cursor_left(&c));
		err = take(context, name, table->module.text + table->functions[i].start);
	}
	return err;
}

/* --- values by address -------------------------------------------------------------- */

struct go_values go_table_values(const struct go_table *table, uint32_t at)
{
	return go_values_begin(&table->blob, table->offset + table->header.values + at,
			       table->offset + table->size_bytes);
}

int go_table_stack(struct go_table *table, uint64_t address,
		   int (*take)(void *context, const struct go_stack_range *range), void *context)
{
	struct go_function_fields function;
	struct go_values values;
	uint64_t start, behind;
	int more;

	if (go_table_function(table, address, &function, &start, &behind) || !function.stack)
		return -ENOENT;
	values = go_table_values(table, function.stack);
	while ((more = go_values_next(&values)) > 0) {
		struct go_stack_range range = {start + values.start, start + values.end,
					       values.value};
		int err = take(context, &range);

		if (err)
			return err;
	}
	return more < 0 ? -ENOENT : 0;
}

uint32_t go_table_count(const struct go_table *table)
{
	return table->count;
}

size_t go_table_bytes(const struct go_table *table)
{
	return sizeof(*table) + ((size_t)table->count + 1) * sizeof(*table->functions) +
	       table->strings.capacity + table->name.capacity +
	       table->elf.segments.capacity * sizeof(*table->elf.segments.data);
}
