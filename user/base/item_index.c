/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/item_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 16
#define CAPACITY_MAX (1u << 31)

static uint32_t fold(uint64_t hash)
{
	return (uint32_t)(hash ^ hash >> 32);
}

uint32_t item_index_find(const struct item_index *index, uint64_t hash, index_map_equal_fn equal,
			 const void *items, const void *key)
{
	uint32_t h = fold(hash), mask = index->capacity - 1;

	if (!index->capacity)
		return INDEX_MAP_NONE;
	for (uint32_t i = h & mask; index->slots[i]; i = (i + 1) & mask) {
		uint32_t slot = index->slots[i], item = (slot & mask) - 1;

		if (!((slot ^ h) & ~mask) && equal(items, item, key))
			return item;
	}
	return INDEX_MAP_NONE;
}

/* The number of an item is below 3/4 of the capacity, so number + 1 has room below the mask. */
static void place(uint32_t *slots, uint32_t capacity, uint32_t hash, uint32_t item)
{
	uint32_t mask = capacity - 1, i = hash & mask;

	while (slots[i])
		i = (i + 1) & mask;
	slots[i] = (hash & ~mask) | (item + 1);
}

static int grow(struct item_index *index, item_index_hash_fn hash_of, const void *items)
{
	uint32_t capacity = index->capacity ? index->capacity * 2 : CAPACITY_MIN;
	uint32_t *slots;

	if (index->capacity == CAPACITY_MAX)
		return -ENOMEM;
	/* The old slots are not needed: beside the new ones, they would be half as much again. */
	slots = reallocarray(index->slots, capacity, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	memset(slots, 0, capacity * sizeof(*slots));
	for (uint32_t i = 0; i < index->size; i++)
		place(slots, capacity, fold(hash_of(items, i)), i);
	index->slots = slots;
	index->capacity = capacity;
	return 0;
}

int item_index_insert(struct item_index *index, uint64_t hash, item_index_hash_fn hash_of,
		      const void *items)
{
	if (index->size + 1 > index->capacity / 4 * 3) {
		int err = grow(index, hash_of, items);

		if (err)
			return err;
	}
	place(index->slots, index->capacity, fold(hash), index->size);
	index->size++;
	return 0;
}

void item_index_deinit(struct item_index *index)
{
	free(index->slots);
	*index = (struct item_index){0};
}
