/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hash index over items that are stored elsewhere, usually in a vec. The
 * index maps a hash to item numbers; a callback of the caller compares keys.
 * The index stores no keys, so it serves strings, stacks and structs alike. A
 * zero-initialized index is empty. The owner calls index_map_deinit().
 */
#ifndef JITBPF_BASE_INDEX_MAP_H
#define JITBPF_BASE_INDEX_MAP_H

#include <stdbool.h>
#include <stdint.h>

#define INDEX_MAP_NONE UINT32_MAX

struct index_map {
	struct index_map_slot {
		uint32_t hash;
		uint32_t item; /* item number + 1; 0 if the slot is empty */
	} * slots;
	uint32_t size;
	uint32_t capacity; /* a power of two, or 0 */
};

/* Returns true if item number `item` has the key `key`. */
typedef bool (*index_map_equal_fn)(const void *items, uint32_t item, const void *key);

/* Returns the number of the item that has the key, or INDEX_MAP_NONE. */
uint32_t index_map_find(const struct index_map *map, uint64_t hash, index_map_equal_fn equal,
			const void *items, const void *key);

/* Add an item that is not in the index yet. Returns 0 or -ENOMEM. */
int index_map_insert(struct index_map *map, uint64_t hash, uint32_t item);

/* Remove item number `item`, which was added with `hash`. No-op if it is absent. */
void index_map_remove(struct index_map *map, uint64_t hash, uint32_t item);

void index_map_deinit(struct index_map *map);

#endif
