/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the symbols of a runtime in its file, of any type. */
#ifndef JITBPF_RUNTIMES_RUNTIME_SYMBOLS_H
#define JITBPF_RUNTIMES_RUNTIME_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/elf/elf_file.h"

#define RUNTIME_SYMBOLS_BYTES_MAX (32u << 20) /* of a symbol table, and of its names */

struct runtime_symbol {
	const char *name; /* borrowed */
	/*
	 * Parts of a function, which the compiler has moved elsewhere, have the name of the
	 * function and a dot before more: "NAME.cold". Such a symbol counts only if its name is not
	 * `name`.
	 */
	bool is_part;
	bool is_prefix; /* `name` is the beginning of its name; the first one counts */
	bool is_found;
	uint64_t address, size_bytes; /* in the file */
};

/*
 * Find symbols in .dynsym, then the others in .symtab. Entries of one name with is_part get one
 * symbol each, in the order of the table. Returns 0, or a negative errno if neither table can be
 * read.
 */
int runtime_symbols_find(const struct elf_file *elf, struct runtime_symbol *symbols, size_t count);

/* The same in .dynsym alone. */
int runtime_symbols_find_exported(const struct elf_file *elf, struct runtime_symbol *symbols,
				  size_t count);

#endif
