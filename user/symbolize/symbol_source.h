/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The source file of a local symbol. Linkers keep the local symbols of an object behind a symbol
 * STT_FILE with the name of its source file, without its folder.
 */
#ifndef JITBPF_SYMBOLIZE_SYMBOL_SOURCE_H
#define JITBPF_SYMBOLIZE_SYMBOL_SOURCE_H

#include "symbolize/symbol_table.h"

#define SYMBOL_SOURCE_DISTANCE_MAX (64u << 10) /* symbols between a function and its file */
#define SYMBOL_SOURCE_NAMES_MAX	   4096	       /* names that are read to find a function */

/*
 * Returns the name of the source file of symbol `number`, which stays valid until the next use of
 * room. Returns NULL if it is not known: the symbol is not local; the table has no such file; the
 * file is no source, as those of programs that were optimized as a whole; or the symbol is another
 * piece of a function ("f.cold") that is not in this file, so it may be of a function that is not
 * static.
 */
const char *symbol_source(const struct symbol_table *table, uint32_t number, symbol_room *room);

#endif
