/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A symbol table of a file, whose symbols and names are read one at a time. A
 * table of SYMBOL_TABLE_HELD_BYTES or less is copied to memory, so that its file
 * need not stay open.
 */
#ifndef JITBPF_SYMBOLIZE_SYMBOL_TABLE_H
#define JITBPF_SYMBOLIZE_SYMBOL_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/blob.h"
#include "base/vec.h"
#include "decode/elf/elf_file.h"
#include "symbolize/symbol_map.h"

#define SYMBOL_TABLE_HELD_BYTES (64u << 10)
/* limit of reading one name; a longer name is truncated */
#define SYMBOL_NAME_READ_MAX (128u << 10)

/* Buffer for the name that was read last. */
typedef VEC(char) symbol_room;

/* Zero-initialized is empty. */
struct symbol_table {
	struct elf_symbol_table at; /* offsets in blob */
	struct blob blob;	    /* of the file, shared, or of `held` */
	uint8_t *held;		    /* NULL if the file is open */
	size_t held_bytes;
};

/*
 * Open .symtab (dynamic = false) or .dynsym (true) of elf. blob is the blob of elf; it is shared if
 * the table is large (base/shared_blob.h). With blob NULL, a table of any size is copied. Returns
 * as elf_symbol_table_find().
 */
int symbol_table_init(struct symbol_table *ret, const struct elf_file *elf, struct blob *blob,
		      bool dynamic);
void symbol_table_deinit(struct symbol_table *table);

/*
 * Read a symbol. Its name, without "@VERSION", stays valid until the next use of room. Returns
 * false if it cannot be read.
 */
bool symbol_table_get(const struct symbol_table *table, uint32_t number, symbol_room *room,
		      struct symbol_span *ret);

/* Returns the scope of an STB_* value. */
enum symbol_scope symbol_scope_of(uint8_t bind);

#endif
