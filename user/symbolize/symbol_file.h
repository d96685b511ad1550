/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The symbols of one ELF file, ready for look-ups; the file itself is read only once. */
#ifndef JITBPF_SYMBOLIZE_SYMBOL_FILE_H
#define JITBPF_SYMBOLIZE_SYMBOL_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/blob.h"

struct symbol_file; /* see symbol_file.c */

/*
 * Read the symbols of a file: of .symtab, which names static functions too, or
 * else of .dynsym. A file without either, or with damaged ones only, has no
 * symbols, which is no error. blob is only needed during the call.
 * Returns 0, -ENOEXEC, -EBADMSG, -ENOMEM or the blob's error.
 */
int symbol_file_create(const struct blob *blob, struct symbol_file **ret);
void symbol_file_destroy(struct symbol_file *file);

/*
 * The (mangled) name of the function that holds a file offset, and how far in
 * that is; NULL where there is none. The name lives as long as the file.
 */
const char *symbol_file_find(const struct symbol_file *file, uint64_t file_offset,
			     uint64_t *ret_offset);

/* Memory that it takes. */
size_t symbol_file_bytes(const struct symbol_file *file);

/* How many ranges of addresses have a name. 0: no symbols. */
size_t symbol_file_count(const struct symbol_file *file);

#endif
