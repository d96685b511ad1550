/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The strings of a file's symbols. All strings are in memory while the symbol
 * map is built. After that, large tables are freed, and single names are read
 * from the file on demand; each location needs its name once.
 */
#ifndef JITBPF_SYMBOLIZE_SYMBOL_NAMES_H
#define JITBPF_SYMBOLIZE_SYMBOL_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/blob.h"
#include "base/vec.h"
#include "decode/elf/elf_file.h"

#define SYMBOL_NAMES_TABLES	2
#define SYMBOL_NAMES_HELD_BYTES (64u << 10) /* tables up to this size stay in memory */
/* limit of reading one name; a longer name is truncated */
#define SYMBOL_NAME_READ_MAX (128u << 10)

/* The string table of one symbol table. */
struct name_table {
	char *text; /* NULL if names are read from blob */
	struct blob blob;
	uint64_t file_offset;
	uint32_t size_bytes;
};

/* Zero-initialized is empty. */
struct symbol_names {
	struct name_table tables[SYMBOL_NAMES_TABLES];
	uint32_t count;
	VEC(char) room; /* buffer for the last name that was read */
};

/*
 * Take over the strings of symbols. The number of a name is its offset in the
 * strings plus *ret_base. Returns 0, or -E2BIG (too many tables) with nothing
 * changed.
 */
int symbol_names_add(struct symbol_names *names, struct elf_symbols *symbols, uint32_t *ret_base);

/*
 * Free the text of table i if it is large; names are then read from blob, which
 * is shared. Returns 0, or -ENOMEM with the text kept.
 */
int symbol_names_release(struct symbol_names *names, uint32_t i, struct blob *blob);
void symbol_names_deinit(struct symbol_names *names);

/*
 * Returns the name of a number, without "@VERSION", or NULL if it cannot be
 * read any more. Borrowed until the next call.
 */
const char *symbol_names_get(struct symbol_names *names, uint32_t number);

/* Memory in use in bytes, and whether a file is kept open. */
size_t symbol_names_bytes(const struct symbol_names *names);
bool symbol_names_open(const struct symbol_names *names);

#endif
