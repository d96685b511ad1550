/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The function symbols of one ELF file, indexed by address. */
#ifndef JITBPF_SYMBOLIZE_SYMBOL_FILE_H
#define JITBPF_SYMBOLIZE_SYMBOL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/blob.h"
#include "decode/elf/go_inlines.h"

struct symbol_file; /* see symbol_file.c */

/*
 * Read the symbols of a file. The sources are, in this order: its .symtab,
 * which includes static functions; the .symtab of debug, its separate debug
 * file (NULL if there is none); .gnu_debugdata together with .dynsym. Functions of Go that have no
 * symbol are in the program's own function table (decode/elf/go_table.h). Missing
 * and damaged tables yield no symbols, without an error. PLT entries are named
 * "function@plt". The caller closes the blobs; the blob with long string tables
 * is shared (base/shared_blob.h). Returns 0, -ENOEXEC, -EBADMSG, -ENOMEM or the
 * blob's error.
 */
int symbol_file_create(struct blob *blob, struct blob *debug, struct symbol_file **ret);
void symbol_file_destroy(struct symbol_file *file);

/* Translate a file offset to an address of the file. Returns false if no segment contains it. */
bool symbol_file_address(const struct symbol_file *file, uint64_t file_offset, uint64_t *ret);

/*
 * Returns the (mangled) name of the function at an address, and sets *ret_offset to the distance
 * from its start. Returns NULL if there is no function, or if the file cannot be read any more. The
 * padding byte before a signal trampoline belongs to it, with offset 0: signal handlers return to
 * its start. The name is borrowed until the next call.
 */
const char *symbol_file_find(struct symbol_file *file, uint64_t address, uint64_t *ret_offset);

/*
 * Returns the name of the source file of the static function that the last symbol_file_find()
 * named, as far as symbols tell (symbol_source()), or NULL. It is borrowed until the next call of a
 * function of this header; the name of symbol_file_find() stays valid.
 */
const char *symbol_file_source(struct symbol_file *file);

/*
 * Find the inlined calls and the lines of a function of Go, which it has without debug info, as
 * go_inlines_find().
 */
int symbol_file_go_inlines(struct symbol_file *file, uint64_t address,
			   struct go_frame frames[GO_FRAMES_MAX], uint32_t *ret_count);

/*
 * Find the range of addresses of the function that symbol_file_find() names. An unsized function
 * ends at the next symbol, or with *ret_end UINT64_MAX. Returns false if there is none.
 */
bool symbol_file_range(struct symbol_file *file, uint64_t address, uint64_t *ret_start,
		       uint64_t *ret_end);

/* Returns the lowest address of code; functions at lower addresses were discarded. */
uint64_t symbol_file_text_start(const struct symbol_file *file);

/* Memory in use in bytes, and whether the file is kept open. */
size_t symbol_file_bytes(const struct symbol_file *file);
bool symbol_file_open(const struct symbol_file *file);

/* Returns the number of address ranges and functions of Go; 0 if there are no names. */
size_t symbol_file_count(const struct symbol_file *file);

#endif
