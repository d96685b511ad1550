/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A copy-on-write tree as a map of ranges: a new range cuts the ranges that it overlaps. */
#ifndef JITBPF_STATE_SPACE_COW_RANGE_H
#define JITBPF_STATE_SPACE_COW_RANGE_H

#include <stdint.h>

#include "state/space/cow_tree.h"

/* Returns the item that covers address, or NULL. Valid until the next change. */
static inline const struct cow_item *cow_range_at(const struct cow_tree *tree, uint64_t address)
{
	const struct cow_item *item = cow_tree_next(tree, address);

	return item && item->start <= address ? item : NULL;
}

/*
 * Reserve memory for one cow_range_clear() or cow_range_put() of [start, end). Returns 0 or
 * -ENOMEM.
 */
int cow_range_reserve(struct cow_tree *tree, uint64_t start, uint64_t end);

/*
 * Insert the part [start, end) of an item that was removed, with a reference of its own. No-op if
 * the part is empty. Needs one insertion of cow_tree_reserve().
 */
void cow_range_keep(struct cow_tree *tree, const struct cow_item *item, uint64_t start,
		    uint64_t end);

/* Remove [start, end) from all items. */
void cow_range_clear(struct cow_tree *tree, uint64_t start, uint64_t end);

/* Replace [start, end) by one item with value. The tree takes a reference of its own. */
void cow_range_put(struct cow_tree *tree, uint64_t start, uint64_t end, struct space_value *value);

#endif
