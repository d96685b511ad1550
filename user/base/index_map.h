/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hash index over items that lie elsewhere, usually in a vec: it maps a hash
 * to item numbers, and the caller says which of the candidates is equal. It
 * holds no keys, so that it serves strings, stacks and structs alike.
 * Zero-initialized is empty. The owner calls index_map_deinit().
 */
#ifndef JITBPF_BASE_INDEX_MAP_H
#define JITBPF_BASE_INDEX_MAP_H

#include <stdbool.h>
#include <stdint.h>

#define INDEX_MAP_NONE UINT32_MAX

struct index_map {
	struct index_map_slot {
		uint32_t hash;
		uint32_t item; /* item number + 1; 0: empty */
	} * slots;
	uint32_t size;
	uint32_t capacity; /* a power of two, or 0 */
};

/* Tells whether item number `item` is the one that `key` describes. */
typedef bool (*index_map_equal_fn)(const void *items, uint32_t item, const void *key);

/* The number of the item that equals key, or INDEX_MAP_NONE. */
uint32_t index_map_find(const struct index_map *map, uint64_t hash, index_map_equal_fn equal,
			const void *items, const void *key);

/* Add an item that is not in the map. Returns 0 or -ENOMEM. */
int index_map_insert(struct index_map *map, uint64_t hash, uint32_t item);

/* Remove the item number `item`, which was added with `hash`. No-op if absent. */
void index_map_remove(struct index_map *map, uint64_t hash, uint32_t item);

void index_map_deinit(struct index_map *map);

#endif
