/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes an ELF file that has some symbols of another one in its .dynsym, and no contents. */
#ifndef JITBPF_TESTS_RUNTIMES_PHP_SYMBOL_FILE_H
#define JITBPF_TESTS_RUNTIMES_PHP_SYMBOL_FILE_H

#include "base/vec.h"
#include "runtimes/runtime_symbols.h"

struct symbol_file {
	VEC(uint8_t) bytes;
};

/* Make a file with those of the symbols that were found. Returns 0 or -ENOMEM. */
int symbol_file_make(const struct runtime_symbol *symbols, size_t count, struct symbol_file *ret);

#endif
