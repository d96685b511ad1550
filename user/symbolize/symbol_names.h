/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names of a file's symbols. While the symbols are read and compared, all are in
 * memory; then long tables are let go, and a name is read from the file when it
 * is asked for, which happens once for each location.
 */
#ifndef JITBPF_SYMBOLIZE_SYMBOL_NAMES_H
#define JITBPF_SYMBOLIZE_SYMBOL_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/blob.h"
#include "base/vec.h"
#include "decode/elf/elf_file.h"

#define SYMBOL_NAMES_TABLES	2
#define SYMBOL_NAMES_HELD_BYTES (64u << 10)  /* a table of at most that many stays in memory */
#define SYMBOL_NAME_READ_MAX	(128u << 10) /* a name that is longer is cut there, or behind */

/* The string section of one symbol table. */
struct name_table {
	char *text; /* NULL: it is read from the blob */
	struct blob blob;
	uint64_t file_offset;
	uint32_t size_bytes;
};

/* Zero-initialized has none. */
struct symbol_names {
	struct name_table tables[SYMBOL_NAMES_TABLES];
	uint32_t count;
	VEC(char) room; /* for the last name that was read */
};

/*
 * Take over the strings of symbols, of a table in blob. The number of a name is its
 * offset there plus *ret_base. Returns 0, or -E2BIG (one table too many) and nothing
 * is changed.
 */
int symbol_names_add(struct symbol_names *names, struct elf_symbols *symbols, uint32_t *ret_base);

/*
 * Let the text of table number i go where it is long: from now on it is read from
 * blob, which is shared. Returns 0 or -ENOMEM (it stays in memory).
 */
int symbol_names_let_go(struct symbol_names *names, uint32_t i, struct blob *blob);
void symbol_names_deinit(struct symbol_names *names);

/*
 * The name of that number, without "@VERSION". Borrowed until the next call.
 * NULL where it cannot be read any more.
 */
const char *symbol_names_get(struct symbol_names *names, uint32_t number);

/* Memory that they take, and whether a file is kept open for them. */
size_t symbol_names_bytes(const struct symbol_names *names);
bool symbol_names_open(const struct symbol_names *names);

#endif
