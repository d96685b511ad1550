/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/symbol_tables.h"

#include <elf.h>

#include "base/scope.h"
#include "decode/elf/debug_link.h"
#include "decode/x86/code_extent.h"
#include "symbolize/symbol_source.h"

#define UNSIZED_BYTES_MAX 2048 /* of functions whose symbol has no size */
#define UNSIZED_MAX	  2048 /* functions of a file whose size is found */

/* Returns the table of a symbol, and its number there; NULL: there is none. */
static const struct symbol_table *table_of(const struct symbol_tables *tables, uint32_t id,
					   uint32_t *ret_number)
{
	for (uint32_t i = 0; i < tables->count; i++) {
		*ret_number = id;
		if (id < tables->tables[i].at.count)
			return &tables->tables[i];
		id -= tables->tables[i].at.count;
	}
	return NULL;
}

static bool read_symbol(void *tables_, uint32_t id, struct symbol_span *ret)
{
	struct symbol_tables *tables = tables_;
	uint32_t number;
	const struct symbol_table *table = table_of(tables, id, &number);

	return table && symbol_table_get(table, number, &tables->room, ret);
}

const char *symbol_tables_source(struct symbol_tables *tables, uint32_t id)
{
	uint32_t number;
	const struct symbol_table *table = table_of(tables, id, &number);

	return table ? symbol_source(table, number, &tables->source_room) : NULL;
}

struct symbol_reader symbol_tables_reader(struct symbol_tables *tables)
{
	return (struct symbol_reader){.read = read_symbol, .context = tables};
}

/* Symbols collected from the tables. */
struct gathered {
	struct symbol_tables *tables;
	symbol_list *list;
	const struct elf_file *file; /* with the code */
	const struct elf_file *elf;  /* with the current table's sections */
	uint32_t base;		     /* id of the current table's first symbol */
	bool complete;		     /* the current table has all functions */
	struct code_decoder decoder;
	uint32_t unsized_left; /* functions whose size may still be found */
};

/*
 * Returns the size of a function whose symbol has none, as those of assembly, by its instructions.
 * Returns 0 if it is not known.
 */
static uint64_t size_by_code(struct gathered *gathered, uint64_t address)
{
	const struct elf_file *elf = gathered->file;
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

	return symbol_list_add(gathered->list, &span, unsized_limit(gathered, symbol),
			       gathered->base + number);
}

/* Add the symbols of a table, which is taken over. */
static int add_table(struct gathered *gathered, const struct elf_file *elf,
		     const struct symbol_table *table, bool complete)
{
	struct symbol_tables *tables = gathered->tables;

	gathered->elf = elf;
	gathered->base = tables->count ? tables->tables[0].at.count : 0;
	gathered->complete = complete;
	tables->tables[tables->count++] = *table;
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

	err = mini_debug_inflate(gathered->file, &bytes, &size_bytes);
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
	if (elf.machine != gathered->file->machine)
		return -ENOENT;
	return gather(gathered, &elf, debug, false, true);
}

/* Collect symbols from the best source available. */
static int gather_best(struct gathered *gathered, struct blob *blob, struct blob *debug)
{
	int err = gather(gathered, gathered->file, blob, false, true);

	if (err == -ENOENT)
		err = gather_debug(gathered, debug);
	if (err != -ENOENT)
		return err;
	err = gather_mini_debug(gathered);
	if (err && err != -ENOENT)
		return err;
	err = gather(gathered, gathered->file, blob, true, false);
	return err == -ENOENT ? 0 : err;
}

int symbol_tables_init(struct symbol_tables *ret, const struct elf_file *elf, struct blob *blob,
		       struct blob *debug, symbol_list *list)
{
	struct gathered gathered = {
		.tables = ret,
		.list = list,
		.file = elf,
		.unsized_left = UNSIZED_MAX,
	};

	return code_decoder_init(&gathered.decoder) ?: gather_best(&gathered, blob, debug);
}

void symbol_tables_deinit(struct symbol_tables *tables)
{
	for (uint32_t i = 0; i < tables->count; i++)
		symbol_table_deinit(&tables->tables[i]);
	vec_deinit(&tables->room);
	vec_deinit(&tables->source_room);
}

bool symbol_tables_are_open(const struct symbol_tables *tables)
{
	for (uint32_t i = 0; i < tables->count; i++) {
		if (!tables->tables[i].held)
			return true;
	}
	return false;
}

size_t symbol_tables_bytes(const struct symbol_tables *tables)
{
	size_t size_bytes = tables->room.capacity + tables->source_room.capacity;

	for (uint32_t i = 0; i < tables->count; i++)
		size_bytes += tables->tables[i].held_bytes;
	return size_bytes;
}
