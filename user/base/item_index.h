/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hash index in 4 bytes a slot, over items that are stored elsewhere and never removed. Items are
 * numbered in the order in which they are inserted: 0, 1, 2. For tables with millions of small
 * items; index_map.h compares fewer items and removes them. A zero-initialized index is empty. The
 * owner calls item_index_deinit().
 */
#ifndef JITBPF_BASE_ITEM_INDEX_H
#define JITBPF_BASE_ITEM_INDEX_H

#include <stdint.h>

#include "base/index_map.h"
#include "base/room.h"
#include "base/vec.h"

struct item_index {
	/*
	 * An item number plus 1 in as many low bits as the capacity needs, and the same bits of the
	 * item's hash above them; 0: empty.
	 */
	uint32_t *slots;
	uint32_t size;
	uint32_t capacity; /* a power of two, or 0 */
};

#define ITEM_INDEX_MAX ((1u << 31) / 4 * 3) /* items */

/* Bytes of the index for an item, on average over its sizes: it is between 3/8 and 3/4 full. */
#define ITEM_INDEX_BYTES 8

/* Returns the hash of an item; that of a key that equals it is the same. */
typedef uint64_t (*item_index_hash_fn)(const void *items, uint32_t item);

/* Returns the number of the item that has the key, or INDEX_MAP_NONE. */
uint32_t item_index_find(const struct item_index *index, uint64_t hash, index_map_equal_fn equal,
			 const void *items, const void *key);

/*
 * Insert the next item, number index->size. `items` has all items before. Returns 0 or, with the
 * index unchanged, -ENOMEM.
 */
int item_index_insert(struct item_index *index, uint64_t hash, item_index_hash_fn hash_of,
		      const void *items);

void item_index_deinit(struct item_index *index);

#endif
