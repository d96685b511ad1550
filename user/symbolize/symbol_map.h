/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which symbol holds an address: symbols that overlap, nest or share an
 * address, settled once into ranges that do not.
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

/* A symbol as a table has it. */
struct symbol_span {
	uint64_t start;
	uint64_t end;	  /* unsized: it reaches to the next symbol, and never past this */
	const char *name; /* borrowed, until the map is made */
	uint32_t id;	  /* of the name, below UINT32_MAX: what a look-up says */
	bool sized;
	uint8_t scope; /* enum symbol_scope */
};

/* Address ranges in order; each reaches to the next one's start. */
struct symbol_range {
	uint64_t start;
	uint32_t id;	/* UINT32_MAX: nobody's */
	uint32_t first; /* number of the range where its symbol starts */
};

/* Zero-initialized is empty. */
struct symbol_map {
	struct symbol_range *ranges;
	size_t count;
};

/*
 * Settle symbols, in any order. An address belongs to the innermost sized symbol
 * that holds it; where there is none, to the unsized symbol before it, if no
 * symbol and no limit lies between. Of several symbols at one address the name
 * that people expect is taken, whatever the order of the table: local ones last; fewer
 * leading underscores (mmap, which is weak, before __mmap); global before weak;
 * sized before unsized; shorter; wider; first in the alphabet. An unsized symbol is as wide as the
 * widest at its address. A span with end == start names nothing but ends the unsized symbol before
 * it.
 *
 * Returns 0, -E2BIG (more than 2^31 - 1 symbols) or -ENOMEM; on failure *ret is
 * unchanged. The caller deinits *ret.
 */
int symbol_map_init(struct symbol_map *ret, const struct symbol_span *spans, size_t count);
void symbol_map_deinit(struct symbol_map *map);

/* The id of the symbol that holds address, and how far in that is. False: there is none. */
bool symbol_map_find(const struct symbol_map *map, uint64_t address, uint32_t *ret_id,
		     uint64_t *ret_offset);

#endif
