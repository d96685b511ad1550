/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/space/cow_range.h"

int cow_range_reserve(struct cow_tree *tree, uint64_t start, uint64_t end)
{
	const struct cow_item *item = cow_tree_next(tree, start);
	size_t hit = 0;

	for (; item && item->start < end; item = cow_tree_next(tree, item->end))
		hit++;
	/* The rests of the first and the last item, and the new item. */
	return cow_tree_reserve(tree, hit, 3);
}

void cow_range_keep(struct cow_tree *tree, const struct cow_item *item, uint64_t start,
		    uint64_t end)
{
	struct cow_item part = *item;

	if (start >= end)
		return;
	part.start = start;
	part.end = end;
	space_value_get(part.value);
	cow_tree_insert(tree, &part);
}

void cow_range_clear(struct cow_tree *tree, uint64_t start, uint64_t end)
{
	const struct cow_item *next;

	while ((next = cow_tree_next(tree, start)) && next->start < end) {
		struct cow_item item = cow_tree_remove(tree, next->start);

		cow_range_keep(tree, &item, item.start, start);
		cow_range_keep(tree, &item, end, item.end);
		space_value_put(item.value);
	}
}

void cow_range_put(struct cow_tree *tree, uint64_t start, uint64_t end, struct space_value *value)
{
	struct cow_item item = {.start = start, .end = end, .value = space_value_get(value)};

	cow_range_clear(tree, start, end);
	cow_tree_insert(tree, &item);
}
