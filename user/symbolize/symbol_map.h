/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A map from addresses to symbols. Symbols may overlap, nest or share an
 * address; the map resolves them once into disjoint ranges.
 *
 * The map holds 8 bytes for each range and no names. Where symbols share a range, their names are
 * compared when the range is looked up for the first time, by a reader of single symbols. When the
 * map is built, names are read in three cases only: symbols have the same start but different ends,
 * more than SYMBOL_ALIASES_MAX symbols share a range, or another symbol interrupts a range that
 * symbols share. At most SYMBOL_NAMES_COMPARED_MAX names are read; then names do not count.
 */
#ifndef JITBPF_SYMBOLIZE_SYMBOL_MAP_H
#define JITBPF_SYMBOLIZE_SYMBOL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sort_keys.h"
#include "base/vec.h"

#define SYMBOL_ALIASES_MAX	  16
#define SYMBOL_NAMES_COMPARED_MAX (16u << 10)
#define SYMBOL_IDS_MAX		  (1u << 30) /* ids are smaller */

enum symbol_scope {
	SYMBOL_LOCAL,
	SYMBOL_WEAK,
	SYMBOL_GLOBAL,
};

/* A symbol as in a symbol table. */
struct symbol_span {
	uint64_t start;
	uint64_t size_bytes; /* 0: unsized */
	enum symbol_scope scope;
	const char *name;
};

/* Reads a symbol. Its name stays valid until the next call. Returns false if it is unreadable. */
struct symbol_reader {
	bool (*read)(void *context, uint32_t id, struct symbol_span *ret);
	void *context;
};

/* Symbols of a map that is being made, in any order. Zero-initialized is empty. */
typedef VEC(struct sort_key) symbol_list;

/*
 * Add a symbol. limit is the highest end of an unsized symbol. An unsized symbol with limit ==
 * start names no code, and only ends the unsized symbol before it. Returns 0 or -ENOMEM.
 */
int symbol_list_add(symbol_list *list, const struct symbol_span *symbol, uint64_t limit,
		    uint32_t id);

/* The start of a range, which ends at the next start or at the end of its symbol. */
struct symbol_range {
	uint32_t start; /* relative to symbol_map.base */
	uint32_t id;	/* UINT32_MAX if the range has no symbol */
};

/* Zero-initialized is empty. */
struct symbol_map {
	uint64_t base;
	struct symbol_range *ranges; /* by start; ranges of one start are of aliases */
	size_t count;
};

/*
 * Build the map from a list, whose order changes. Symbols outside [base, base + UINT32_MAX) are
 * ignored. An address belongs to the innermost sized symbol that contains it. If there is none, it
 * belongs to the unsized symbol before it, unless another symbol or a limit lies between.
 *
 * Of several symbols at one address, the preferred name does not depend on the
 * order of the table: non-local before local; fewer leading underscores (mmap
 * before __mmap); global before weak; sized before unsized; shorter; larger
 * range; alphabetical order. An unsized symbol is as large as the largest
 * symbol at its address.
 *
 * Returns 0, or -ENOMEM with *ret unchanged. The caller calls symbol_map_deinit().
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
