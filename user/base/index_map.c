/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/index_map.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t fold(uint64_t hash)
{
	return (uint32_t)(hash ^ hash >> 32);
}

uint32_t index_map_find(const struct index_map *map, uint64_t hash, index_map_equal_fn equal,
			const void *items, const void *key)
{
	uint32_t h = fold(hash), mask = map->capacity - 1;

	if (!map->capacity)
		return INDEX_MAP_NONE;
	for (uint32_t i = h & mask; map->slots[i].item; i = (i + 1) & mask) {
		if (map->slots[i].hash == h && equal(items, map->slots[i].item - 1, key))
			return map->slots[i].item - 1;
	}
	return INDEX_MAP_NONE;
}

static void place(struct index_map_slot *slots, uint32_t capacity, struct index_map_slot slot)
{
	uint32_t mask = capacity - 1, i = slot.hash & mask;

	while (slots[i].item)
		i = (i + 1) & mask;
	slots[i] = slot;
}

int index_map_insert(struct index_map *map, uint64_t hash, uint32_t item)
{
	if (map->size + 1 > map->capacity / 4 * 3) {
		uint32_t capacity = map->capacity ? map->capacity * 2 : 16;
		struct index_map_slot *slots;

		if (capacity < map->capacity)
			return -ENOMEM;
		slots = calloc(capacity, sizeof(*slots));
		if (!slots)
			return -ENOMEM;
		for (uint32_t i = 0; i < map->capacity; i++) {
			if (map->slots[i].item)
				place(slots, capacity, map->slots[i]);
		}
		free(map->slots);
		map->slots = slots;
		map->capacity = capacity;
	}
	place(map->slots, map->capacity,
	      (struct index_map_slot){.hash = fold(hash), .item = item + 1});
	map->size++;
	return 0;
}

void index_map_remove(struct index_map *map, uint64_t hash, uint32_t item)
{
	uint32_t mask = map->capacity - 1, hole, i;

	if (!map->capacity)
		return;
	for (hole = fold(hash) & mask; map->slots[hole].item != item + 1;
	     hole = (hole + 1) & mask) {
		if (!map->slots[hole].item)
			return;
	}
	map->size--;
	/*
	 * Shift back entries that the hole would make unreachable: those whose
	 * home is at or before it.
	 */
	for (i = (hole + 1) & mask; map->slots[i].item; i = (i + 1) & mask) {
		uint32_t home = map->slots[i].hash & mask;

		if (((i - home) & mask) >= ((i - hole) & mask)) {
			map->slots[hole] = map->slots[i];
			hole = i;
		}
	}
	map->slots[hole] = (struct index_map_slot){0};
}

void index_map_deinit(struct index_map *map)
{
	free(map->slots);
	*map = (struct index_map){0};
}
