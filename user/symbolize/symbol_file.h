/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The symbols of one ELF file, ready for look-ups: read once, but for long tables of names. */
#ifndef JITBPF_SYMBOLIZE_SYMBOL_FILE_H
#define JITBPF_SYMBOLIZE_SYMBOL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/blob.h"

struct symbol_file; /* see symbol_file.c */

/*
 * Read the symbols of a file: of its .symtab, which names static functions too;
 * else of that of debug, the file with its debug info (NULL: there is none);
 * else of .gnu_debugdata and .dynsym. A file without any of them, or with damaged
 * ones only, has no symbols, which is no error. Entries of its procedure linkage
 * table are called "function@plt". The blobs stay the caller's to close; the
 * one that names are read from later on is shared (base/shared_blob.h).
 * Returns 0, -ENOEXEC, -EBADMSG, -ENOMEM or the blob's error.
 */
int symbol_file_create(struct blob *blob, struct blob *debug, struct symbol_file **ret);
void symbol_file_destroy(struct symbol_file *file);

/* The address of a file offset, as the file counts them. False where no segment holds it. */
bool symbol_file_address(const struct symbol_file *file, uint64_t file_offset, uint64_t *ret);

/*
 * The (mangled) name of the function that holds an address, and how far in
 * that is; NULL where there is none, or where the file cannot be read any more.
 * The name is good until the next call.
 */
const char *symbol_file_find(struct symbol_file *file, uint64_t address, uint64_t *ret_offset);

/* Where its code begins: no function lies before. */
uint64_t symbol_file_text_start(const struct symbol_file *file);

/* Memory that it takes at present, and whether it keeps a file open. */
size_t symbol_file_bytes(const struct symbol_file *file);
bool symbol_file_open(const struct symbol_file *file);

/* How many ranges of addresses have a name. 0: no symbols. */
size_t symbol_file_count(const struct symbol_file *file);

#endif
