/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The symbol tables that describe one file. Ids count the symbols of all tables. */
#ifndef JITBPF_SYMBOLIZE_SYMBOL_TABLES_H
#define JITBPF_SYMBOLIZE_SYMBOL_TABLES_H

#include "symbolize/symbol_ranges.h"
#include "symbolize/symbol_table.h"

#define SYMBOL_TABLES_MAX 2

/* Zero-initialized is empty. */
struct symbol_tables {
	struct symbol_table tables[SYMBOL_TABLES_MAX];
	uint32_t count;
	symbol_room room; /* of the name that was read last */
	symbol_room source_room;
};

/*
 * Open the tables of elf that know most, and add their symbols to the list: its .symtab; that of
 * debug, its separate debug file (NULL: none); or .gnu_debugdata with .dynsym. blob is that of elf.
 * *ret is zero-initialized, and in use also after an error. Returns 0, -ENOMEM, or the error of a
 * blob.
 */
int symbol_tables_init(struct symbol_tables *ret, const struct elf_file *elf, struct blob *blob,
		       struct blob *debug, symbol_list *list);
void symbol_tables_deinit(struct symbol_tables *tables);

/* Returns a reader of the symbols. Its names are in tables->room. */
struct symbol_reader symbol_tables_reader(struct symbol_tables *tables);

/* Returns symbol_source() of a symbol, in tables->source_room. */
const char *symbol_tables_source(struct symbol_tables *tables, uint32_t id);

/* Returns true if a table is read from its file, which stays open. */
bool symbol_tables_are_open(const struct symbol_tables *tables);

/* Memory in use besides the struct, in bytes. */
size_t symbol_tables_bytes(const struct symbol_tables *tables);

#endif
