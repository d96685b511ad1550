/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A map from addresses to symbols. Symbols may overlap, nest or share an
 * address; the map resolves them once into disjoint ranges.
 */
#ifndef JITBPF_SYMBOLIZE_SYMBOL_MAP_H
#define JITBPF_SYMBOLIZE_SYMBOL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum symbol_scope {
	SYMBOL_LOCAL,
	SYMBOL_WEAK,
	SYMBOL_GLOBAL,
};

/* A symbol as in a symbol table. */
struct symbol_span {
	uint64_t start;
	uint64_t end; /* of an unsized symbol: limit of its range, which ends at the next symbol */
	const char *name; /* borrowed until symbol_map_init() returns */
	uint32_t id;	  /* result of a look-up, below UINT32_MAX */
	bool sized;
	uint8_t scope; /* enum symbol_scope */
};

/* Sorted address ranges; each extends to the start of the next one. */
struct symbol_range {
	uint64_t start;
	uint32_t id;	/* UINT32_MAX if the range has no symbol */
	uint32_t first; /* index of the range where its symbol starts */
};

/* Zero-initialized is empty. */
struct symbol_map {
	struct symbol_range *ranges;
	size_t count;
};

/*
 * Build the map from symbols in any order. An address belongs to the innermost
 * sized symbol that contains it. If there is none, it belongs to the unsized
 * symbol before it, unless another symbol or a limit lies between.
 *
 * Of several symbols at one address, the preferred name does not depend on the
 * order of the table: non-local before local; fewer leading underscores (mmap
 * before __mmap); global before weak; sized before unsized; shorter; larger
 * range; alphabetical order. An unsized symbol is as large as the largest
 * symbol at its address. A span with end == start has no name and only ends an
 * unsized symbol.
 *
 * Returns 0, -E2BIG (more than 2^31 - 1 symbols) or -ENOMEM; on failure *ret is
 * unchanged. The caller calls symbol_map_deinit().
 */
int symbol_map_init(struct symbol_map *ret, const struct symbol_span *spans, size_t count);
void symbol_map_deinit(struct symbol_map *map);

/*
 * Find the symbol at an address. Sets *ret_id, and *ret_offset to the distance
 * from the symbol's start. Returns false if there is none.
 */
bool symbol_map_find(const struct symbol_map *map, uint64_t address, uint32_t *ret_id,
		     uint64_t *ret_offset);

#endif
