/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A map from addresses to symbols. It holds 8 bytes for each range (symbol_ranges.h) and no names.
 * Where symbols share a range, their names are compared when it is looked up, by a reader of single
 * symbols.
 */
#ifndef JITBPF_SYMBOLIZE_SYMBOL_MAP_H
#define JITBPF_SYMBOLIZE_SYMBOL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolize/symbol_ranges.h"

/* Zero-initialized is empty. */
struct symbol_map {
	uint64_t base;
	struct symbol_range *ranges; /* by start; ranges of one start are of aliases */
	size_t count;
};

/*
 * Build the map by symbol_ranges_make(). Returns 0, or -ENOMEM with *ret unchanged. The caller
 * calls symbol_map_deinit().
 */
int symbol_map_init(struct symbol_map *ret, uint64_t base, symbol_list *list,
		    const struct symbol_reader *reader);
void symbol_map_deinit(struct symbol_map *map);

/*
 * Find the symbol at an address; reader is that of symbol_map_init(). The name is the reader's.
 * Returns false if there is none.
 */
bool symbol_map_find(const struct symbol_map *map, uint64_t address,
		     const struct symbol_reader *reader, struct symbol_span *ret);

/* Returns the lowest start of a range above an address, or UINT64_MAX. */
uint64_t symbol_map_next(const struct symbol_map *map, uint64_t address);

#endif
