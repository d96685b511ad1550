/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/symbol_file.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/scope.h"
#include "decode/elf/elf_file.h"
#include "symbolize/plt_map.h"
#include "symbolize/symbol_map.h"
#include "symbolize/symbol_tables.h"

#define PLT_SUFFIX	   "@plt"
#define GO_PREFIX	   "runtime.sigreturn" /* of the names of Go's signal trampolines */
#define PLT_NAME_BYTES_MAX (4u << 10)	       /* longer names of functions are truncated */

struct symbol_file {
	struct elf_file elf; /* its blob is not valid after symbol_file_create() */
	struct symbol_tables tables;
	struct symbol_map map; /* of the ids of `tables` */
	struct plt_map plt;
	struct go_table *go; /* NULL: not a program of Go */
	uint32_t found;	     /* the local symbol that was found last, or SYMBOL_NONE */
};

DEFINE_CLEANUP(struct symbol_file *, symbol_file_destroy);

/* Returns the lowest address of the file's segments. */
static uint64_t lowest_address(const struct elf_file *elf)
{
	uint64_t lowest = UINT64_MAX;

	vec_for_each (segment, &elf->segments)
		lowest = segment->address < lowest ? segment->address : lowest;
	return lowest;
}

/* Without a function table that can be read, the functions of Go have no names. */
static int absent_go(int err)
{
	return err == -ENOENT || err == -ENOTSUP || err == -EBADMSG || err == -E2BIG ? 0 : err;
}

int symbol_file_create(struct blob *blob, struct blob *debug, struct symbol_file **ret)
{
	CLEANUP(symbol_file_destroyp) struct symbol_file *file = calloc(1, sizeof(*file));
	CLEANUP(symbol_list_deinit) symbol_list symbols = {0};
	struct symbol_reader reader;
	int err;

	if (!file)
		return -ENOMEM;
	err = elf_file_init_any(&file->elf, blob);
	if (!err && file->elf.type == ET_REL)
		return -ENOEXEC;
	err = err ?: symbol_tables_init(&file->tables, &file->elf, blob, debug, &symbols);
	reader = symbol_tables_reader(&file->tables);
	err = err ?: symbol_map_init(&file->map, lowest_address(&file->elf), &symbols, &reader);
	err = err ?: plt_map_init(&file->plt, &file->elf, blob);
	if (file->elf.machine == EM_X86_64)
		err = err ?: absent_go(go_table_create(&file->elf, blob, &file->go));
	if (err)
		return err;
	file->elf.blob = NULL;
	vec_deinit(&file->elf.sections);
	vec_deinit(&file->elf.notes);
	*ret = TAKE_PTR(file);
	return 0;
}

void symbol_file_destroy(struct symbol_file *file)
{
	if (!file)
		return;
	elf_file_deinit(&file->elf);
	symbol_map_deinit(&file->map);
	plt_map_deinit(&file->plt);
	go_table_destroy(file->go);
	symbol_tables_deinit(&file->tables);
	free(file);
}

bool symbol_file_address(const struct symbol_file *file, uint64_t file_offset, uint64_t *ret)
{
	return elf_file_address(&file->elf, file_offset, ret);
}

/*
 * Returns the name of a PLT entry's function, which is in file->tables.room, with room for the
 * suffix. An IRELATIVE entry is named after its resolver.
 */
static char *plt_function(struct symbol_file *file, const struct elf_plt_entry *entry)
{
	const struct symbol_reader reader = symbol_tables_reader(&file->tables);
	struct symbol_span span;
	bool found;

	if (entry->symbol)
		found = symbol_table_get(&file->plt.dynamic, entry->symbol, &file->tables.room,
					 &span);
	else
		found = symbol_map_find(&file->map, entry->resolver, &reader, &span) &&
			span.start == entry->resolver;
	if (vec_reserve(&file->tables.room, PLT_NAME_BYTES_MAX + sizeof(PLT_SUFFIX)))
		return NULL;
	if (!found && !entry->symbol)
		snprintf(file->tables.room.data, file->tables.room.capacity, "*ABS*+0x%" PRIx64,
			 entry->resolver);
	return (found || !entry->symbol) && *file->tables.room.data ? file->tables.room.data : NULL;
}

static const char *plt_name(struct symbol_file *file, const struct elf_plt_entry *entry)
{
	char *name = plt_function(file, entry);

	if (name)
		memcpy(name + strnlen(name, PLT_NAME_BYTES_MAX), PLT_SUFFIX, sizeof(PLT_SUFFIX));
	return name;
}

static bool is_signal_trampoline(const char *name)
{
	return !strcmp(name, "__restore_rt") || !strncmp(name, GO_PREFIX, strlen(GO_PREFIX));
}

/*
 * Finds the symbol at an address. The padding byte before a signal trampoline belongs to it, since
 * a caller is looked up at its return address - 1, and a signal handler returns to the start.
 */
static bool span_find(struct symbol_file *file, uint64_t address, struct symbol_span *ret)
{
	struct symbol_reader reader = symbol_tables_reader(&file->tables);

	if (symbol_map_find(&file->map, address, &reader, ret))
		return true;
	return symbol_map_next(&file->map, address) == address + 1 &&
	       symbol_map_find(&file->map, address + 1, &reader, ret) &&
	       is_signal_trampoline(ret->name);
}

/*
 * Returns the address by which to look up a function of Go. Padding belongs to the function before
 * it, except for the byte before a signal trampoline, see span_find().
 */
static uint64_t go_address(struct symbol_file *file, uint64_t address)
{
	uint64_t start, end;
	const char *name;

	if (!go_table_range(file->go, address + 1, &start, &end) || start != address + 1)
		return address;
	name = go_table_name(file->go, start);
	return name && is_signal_trampoline(name) ? start : address;
}

static const char *go_name(struct symbol_file *file, uint64_t address, uint64_t *ret_offset)
{
	uint64_t at = file->go ? go_address(file, address) : address, start, end;
	const char *name = file->go ? go_table_name(file->go, at) : NULL;

	if (!name || !*name || !go_table_range(file->go, at, &start, &end))
		return NULL;
	*ret_offset = at - start;
	return name;
}

int symbol_file_go_inlines(struct symbol_file *file, uint64_t address,
			   struct go_frame frames[GO_FRAMES_MAX], uint32_t *ret_count)
{
	*ret_count = 0;
	return file->go ? go_inlines_find(file->go, go_address(file, address), frames, ret_count)
			: 0;
}

const char *symbol_file_find(struct symbol_file *file, uint64_t address, uint64_t *ret_offset)
{
	const struct elf_plt_entry *entry = plt_map_find(&file->plt, address);
	const char *name = entry ? plt_name(file, entry) : NULL;
	struct symbol_span span;

	file->found = SYMBOL_NONE;
	if (name) {
		*ret_offset = address - entry->address;
		return name;
	}
	if (!span_find(file, address, &span) || !*span.name)
		return go_name(file, address, ret_offset);
	*ret_offset = address > span.start ? address - span.start : 0;
	file->found = span.scope == SYMBOL_LOCAL ? span.id : SYMBOL_NONE;
	return span.name;
}

const char *symbol_file_source(struct symbol_file *file)
{
	return file->found == SYMBOL_NONE ? NULL : symbol_tables_source(&file->tables, file->found);
}

bool symbol_file_range(struct symbol_file *file, uint64_t address, uint64_t *ret_start,
		       uint64_t *ret_end)
{
	const struct elf_plt_entry *entry = plt_map_find(&file->plt, address);
	struct symbol_reader reader = symbol_tables_reader(&file->tables);
	struct symbol_span span;

	if (entry && plt_name(file, entry)) {
		*ret_start = entry->address;
		*ret_end = entry->address + entry->size_bytes;
		return true;
	}
	if (!symbol_map_find(&file->map, address, &reader, &span))
		return file->go && go_table_range(file->go, address, ret_start, ret_end);
	*ret_start = span.start;
	*ret_end = span.size_bytes ? span.start + span.size_bytes
				   : symbol_map_next(&file->map, address);
	return true;
}

uint64_t symbol_file_text_start(const struct symbol_file *file)
{
	uint64_t start = UINT64_MAX;

	vec_for_each (segment, &file->elf.segments) {
		if (segment->executable && segment->address < start)
			start = segment->address;
	}
	/* Address 0 has the ELF headers; the linker also places discarded functions at 0. */
	return start ? start : 1;
}

size_t symbol_file_bytes(const struct symbol_file *file)
{
	size_t size_bytes = sizeof(*file) + plt_map_bytes(&file->plt) +
			    symbol_tables_bytes(&file->tables) +
			    file->map.count * sizeof(*file->map.ranges) +
			    file->elf.segments.capacity * sizeof(*file->elf.segments.data);

	return size_bytes + (file->go ? go_table_bytes(file->go) : 0);
}

bool symbol_file_open(const struct symbol_file *file)
{
	return symbol_tables_are_open(&file->tables) || file->go ||
	       (file->plt.dynamic.blob.read && !file->plt.dynamic.held);
}

size_t symbol_file_count(const struct symbol_file *file)
{
	return file->map.count + (file->go ? go_table_count(file->go) : 0);
}
