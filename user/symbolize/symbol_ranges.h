/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes disjoint ranges of addresses from symbols, which may overlap, nest or share an address.
 *
 * Names are read in three cases only: symbols have the same start but different ends, more than
 * SYMBOL_ALIASES_MAX symbols share a range, or another symbol interrupts a range that symbols
 * share. At most SYMBOL_NAMES_COMPARED_MAX names are read; then names do not count.
 */
#ifndef JITBPF_SYMBOLIZE_SYMBOL_RANGES_H
#define JITBPF_SYMBOLIZE_SYMBOL_RANGES_H

#include "base/sort_keys.h"
#include "base/vec.h"
#include "symbolize/symbol_choice.h"

#define SYMBOL_ALIASES_MAX	  16
#define SYMBOL_NAMES_COMPARED_MAX (16u << 10)

/* Symbols whose ranges are to be made, in any order. Zero-initialized is empty. */
typedef VEC(struct sort_key) symbol_list;

static inline void symbol_list_deinit(symbol_list *list)
{
	vec_deinit(list);
}

/*
 * Add a symbol. limit is the highest end of an unsized symbol. An unsized symbol with limit ==
 * start names no code, and only ends the unsized symbol before it. Returns 0 or -ENOMEM.
 */
int symbol_list_add(symbol_list *list, const struct symbol_span *symbol, uint64_t limit,
		    uint32_t id);

/* The start of a range, which ends at the next start or at the end of its symbol. */
struct symbol_range {
	uint32_t start; /* relative to the base */
	uint32_t id;	/* SYMBOL_NONE if the range has no symbol */
};

typedef VEC(struct symbol_range) symbol_ranges;

/*
 * Make the ranges of a list, whose order changes. Symbols outside [base, base + UINT32_MAX) are
 * ignored. An address belongs to the innermost sized symbol that contains it. If there is none, it
 * belongs to the unsized symbol before it, unless another symbol or a limit lies between. An
 * unsized symbol is as large as the largest symbol at its address. Of several symbols at one
 * address with different ends, the preferred ones are visible, of one weight the larger one.
 *
 * *ret is by start; ranges of one start are of aliases. Returns 0, or -ENOMEM with *ret unchanged.
 */
int symbol_ranges_make(symbol_list *list, uint64_t base, const struct symbol_reader *reader,
		       symbol_ranges *ret);

#endif
