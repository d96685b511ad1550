/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Nesting of DIEs in a walk: tracks which DIEs with an item (function or scope) are open. */
#ifndef JITBPF_SYMBOLIZE_DEBUG_DIE_NESTING_H
#define JITBPF_SYMBOLIZE_DEBUG_DIE_NESTING_H

#include "base/vec.h"
#include "decode/dwarf/dwarf_die.h"

#define DIE_NO_ITEM UINT32_MAX

/* Zero-initialized is empty. */
struct die_nesting {
	uint32_t depth;
	VEC(struct die_open_item) open;
};

struct die_open_item {
	uint32_t item;
	uint32_t depth;
};

static inline void die_nesting_deinit(struct die_nesting *nesting)
{
	vec_deinit(&nesting->open);
}

/* Record a DIE that was read, with its item number or DIE_NO_ITEM. Returns 0 or -ENOMEM. */
static inline int die_nesting_enter(struct die_nesting *nesting, const struct dwarf_die *die,
				    uint32_t item)
{
	struct die_open_item open = {item, nesting->depth};

	if (!die->children)
		return 0;
	nesting->depth++;
	return item == DIE_NO_ITEM ? 0 : vec_push(&nesting->open, open);
}

/*
 * Record a null entry. Sets *ret to the item that ends, or DIE_NO_ITEM. Returns
 * false if no list of siblings is open.
 */
static inline bool die_nesting_leave(struct die_nesting *nesting, uint32_t *ret)
{
	*ret = DIE_NO_ITEM;
	if (!nesting->depth)
		return false;
	nesting->depth--;
	if (nesting->open.size &&
	    nesting->open.data[nesting->open.size - 1].depth == nesting->depth)
		*ret = nesting->open.data[--nesting->open.size].item;
	return true;
}

/* Returns the innermost open item, or DIE_NO_ITEM. */
static inline uint32_t die_nesting_item(const struct die_nesting *nesting)
{
	return nesting->open.size ? nesting->open.data[nesting->open.size - 1].item : DIE_NO_ITEM;
}

#endif
