/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/symbol_file.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/scope.h"
#include "decode/elf/debug_link.h"
#include "decode/elf/elf_file.h"
#include "decode/x86/code_extent.h"
#include "symbolize/plt_map.h"
#include "symbolize/symbol_map.h"
#include "symbolize/symbol_table.h"

#define TABLES_MAX	   2
#define PLT_SUFFIX	   "@plt"
#define GO_PREFIX	   "runtime.sigreturn" /* of the names of Go's signal trampolines */
#define UNSIZED_BYTES_MAX  2048		       /* of functions whose symbol has no size */
#define UNSIZED_MAX	   2048		       /* functions of a file whose size is found */
#define PLT_NAME_BYTES_MAX (4u << 10)	       /* longer names of functions are truncated */

struct symbol_file {
	struct elf_file elf; /* its blob is not valid after symbol_file_create() */
	struct symbol_table tables[TABLES_MAX];
	uint32_t table_count;
	symbol_room room;      /* of names of `tables` */
	struct symbol_map map; /* ids count the symbols of all tables */
	struct plt_map plt;
	struct go_table *go; /* NULL: not a program of Go */
};

DEFINE_CLEANUP(struct symbol_file *, symbol_file_destroy);

static bool read_symbol(void *file_, uint32_t id, struct symbol_span *ret)
{
	struct symbol_file *file = file_;

	for (uint32_t i = 0; i < file->table_count; i++) {
		const struct symbol_table *table = &file->tables[i];

		if (id < table->at.count)
			return symbol_table_get(table, id, &file->room, ret);
		id -= table->at.count;
	}
	return false;
}

static struct symbol_reader reader_of(struct symbol_file *file)
{
	return (struct symbol_reader){.read = read_symbol, .context = file};
}

/* Symbols collected from the tables. */
struct gathered {
	struct symbol_file *file;
	symbol_list list;
	const struct elf_file *elf; /* with the current table's sections */
	uint32_t base;		    /* id of the current table's first symbol */
	bool complete;		    /* the current table has all functions */
	struct code_decoder decoder;
	uint32_t unsized_left; /* functions whose size may still be found */
};

static void gathered_deinit(struct gathered *gathered)
{
	vec_deinit(&gathered->list);
}

/*
 * Returns the size of a function whose symbol has none, as those of assembly, by its instructions.
 * Returns 0 if it is not known.
 */
static uint64_t size_by_code(struct gathered *gathered, uint64_t address)
{
	const struct elf_file *elf = &gathered->file->elf;
	uint8_t code[UNSIZED_BYTES_MAX];
	uint64_t offset, size_bytes;

	if (elf->machine != EM_X86_64 || !gathered->unsized_left ||
	    !elf_file_offset(elf, address, &offset) || offset > elf->blob->size_bytes)
		return 0;
	gathered->unsized_left--;
	size_bytes = elf->blob->size_bytes - offset;
	if (size_bytes > sizeof(code))
		size_bytes = sizeof(code);
	if (blob_read(elf->blob, offset, code, size_bytes))
		return 0;
	return code_extent(&gathered->decoder, code, size_bytes, address);
}

/*
 * Returns the highest end of an unsized symbol. In a table of all functions, it is the end of the
 * section, and else that of the function's code: the code behind it may belong to a function
 * without a symbol. Without a known section, the symbol is empty.
 */
static uint64_t unsized_limit(struct gathered *gathered, const struct elf_symbol *symbol)
{
	const struct elf_section *section;
	uint64_t start = symbol->address;

	if (!symbol->section || symbol->size_bytes)
		return start;
	if (!gathered->complete)
		return start + size_by_code(gathered, start);
	section = &gathered->elf->sections.data[symbol->section];
	return section->size_bytes <= UINT64_MAX - section->address
		       ? section->address + section->size_bytes
		       : start;
}

static int add_symbol(void *gathered_, const struct elf_symbol *symbol, uint32_t number)
{
	struct gathered *gathered = gathered_;
	struct symbol_span span = {
		.start = symbol->address,
		.size_bytes = symbol->size_bytes,
		.scope = symbol_scope_of(symbol->bind),
	};

	return symbol_list_add(&gathered->list, &span, unsized_limit(gathered, symbol),
			       gathered->base + number);
}

/* Add the symbols of a table, which is taken over. */
static int add_table(struct gathered *gathered, const struct elf_file *elf,
		     const struct symbol_table *table, bool complete)
{
	struct symbol_file *file = gathered->file;

	gathered->elf = elf;
	gathered->base = file->table_count ? file->tables[0].at.count : 0;
	gathered->complete = complete;
	file->tables[file->table_count++] = *table;
	return elf_symbol_table_each(elf, &table->blob, &table->at, add_symbol, gathered);
}

/* Errors of a table that is missing or damaged. */
static int absent(int err)
{
	return err == -EBADMSG || err == -E2BIG ? -ENOENT : err;
}

/* Add the symbols of one table. Returns -ENOENT if the table is missing or damaged. */
static int gather(struct gathered *gathered, const struct elf_file *elf, struct blob *blob,
		  bool dynamic, bool complete)
{
	struct symbol_table table;
	int err = absent(symbol_table_init(&table, elf, blob, dynamic));

	return err ?: add_table(gathered, elf, &table, complete);
}

/* Add the symbols of .gnu_debugdata, which a stripped program has besides .dynsym. */
static int gather_mini_debug(struct gathered *gathered)
{
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	AUTO_FREE uint8_t *bytes = NULL;
	struct blob blob;
	size_t size_bytes;
	int err;

	err = mini_debug_inflate(&gathered->file->elf, &bytes, &size_bytes);
	if (err)
		return err == -ENOMEM ? err : -ENOENT;
	blob = blob_of_memory(bytes, size_bytes);
	err = elf_file_init_any(&elf, &blob);
	if (err)
		return err == -ENOMEM ? err : -ENOENT;
	return gather(gathered, &elf, NULL, false, false);
}

static int gather_debug(struct gathered *gathered, struct blob *debug)
{
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	int err;

	if (!debug)
		return -ENOENT;
	err = elf_file_init_any(&elf, debug);
	if (err)
		return err == -ENOMEM ? err : -ENOENT;
	if (elf.machine != gathered->file->elf.machine)
		return -ENOENT;
	return gather(gathered, &elf, debug, false, true);
}

/* Collect symbols from the best source available. */
static int gather_best(struct gathered *gathered, struct blob *blob, struct blob *debug)
{
	int err = gather(gathered, &gathered->file->elf, blob, false, true);

	if (err == -ENOENT)
		err = gather_debug(gathered, debug);
	if (err != -ENOENT)
		return err;
	err = gather_mini_debug(gathered);
	if (err && err != -ENOENT)
		return err;
	err = gather(gathered, &gathered->file->elf, blob, true, false);
	return err == -ENOENT ? 0 : err;
}

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
	CLEANUP(gathered_deinit)
	struct gathered gathered = {.file = file, .unsized_left = UNSIZED_MAX};
	struct symbol_reader reader = reader_of(file);
	int err;

	if (!file)
		return -ENOMEM;
	err = elf_file_init_any(&file->elf, blob);
	if (!err && file->elf.type == ET_REL)
		return -ENOEXEC;
	err = err ?: code_decoder_init(&gathered.decoder);
	err = err ?: gather_best(&gathered, blob, debug);
	err = err
		      ?: symbol_map_init(&file->map, lowest_address(&file->elf), &gathered.list,
					 &reader);
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
	for (uint32_t i = 0; i < file->table_count; i++)
		symbol_table_deinit(&file->tables[i]);
	vec_deinit(&file->room);
	free(file);
}

bool symbol_file_address(const struct symbol_file *file, uint64_t file_offset, uint64_t *ret)
{
	return elf_file_address(&file->elf, file_offset, ret);
}

/*
 * Returns the name of a PLT entry's function, which is in file->room, with room for the suffix. An
 * IRELATIVE entry is named after its resolver.
 */
static char *plt_function(struct symbol_file *file, const struct elf_plt_entry *entry)
{
	const struct symbol_reader reader = reader_of(file);
	struct symbol_span span;
	bool found;

	if (entry->symbol)
		found = symbol_table_get(&file->plt.dynamic, entry->symbol, &file->room, &span);
	else
		found = symbol_map_find(&file->map, entry->resolver, &reader, &span) &&
			span.start == entry->resolver;
	if (vec_reserve(&file->room, PLT_NAME_BYTES_MAX + sizeof(PLT_SUFFIX)))
		return NULL;
	if (!found && !entry->symbol)
		snprintf(file->room.data, file->room.capacity, "*ABS*+0x%" PRIx64, entry->resolver);
	return (found || !entry->symbol) && *file->room.data ? file->room.data : NULL;
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
	struct symbol_reader reader = reader_of(file);

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

	if (name) {
		*ret_offset = address - entry->address;
		return name;
	}
	if (!span_find(file, address, &span) || !*span.name)
		return go_name(file, address, ret_offset);
	*ret_offset = address > span.start ? address - span.start : 0;
	return span.name;
}

bool symbol_file_range(struct symbol_file *file, uint64_t address, uint64_t *ret_start,
		       uint64_t *ret_end)
{
	const struct elf_plt_entry *entry = plt_map_find(&file->plt, address);
	struct symbol_reader reader = reader_of(file);
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
	size_t size_bytes = sizeof(*file) + plt_map_bytes(&file->plt) + file->room.capacity +
			    file->map.count * sizeof(*file->map.ranges) +
			    file->elf.segments.capacity * sizeof(*file->elf.segments.data);

	for (uint32_t i = 0; i < file->table_count; i++)
		size_bytes += file->tables[i].held_bytes;
	return size_bytes + (file->go ? go_table_bytes(file->go) : 0);
}

bool symbol_file_open(const struct symbol_file *file)
{
	for (uint32_t i = 0; i < file->table_count; i++) {
		if (!file->tables[i].held)
			return true;
	}
	return file->go || (file->plt.dynamic.blob.read && !file->plt.dynamic.held);
}

size_t symbol_file_count(const struct symbol_file *file)
{
	return file->map.count + (file->go ? go_table_count(file->go) : 0);
}
