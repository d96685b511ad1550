/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "base/hash.h"
#include "base/index_map.h"
#include "tests/unit/cases.h"

#define KEYS 500

static bool equal(const void *items, uint32_t item, const void *key)
{
	return ((const uint32_t *)items)[item] == *(const uint32_t *)key;
}

/* Random insertions and removals are compared with an array; few hash values cause collisions. */
CASE(test_against_model)
{
	uint32_t items[KEYS];
	bool present[KEYS] = {0};
	struct index_map map = {0};
	uint64_t random = 1;

	for (uint32_t i = 0; i < KEYS; i++)
		items[i] = i * 7;
	for (int step = 0; step < 20000; step++) {
		uint32_t i, key;
		uint64_t hash;

		random = hash_mix(random, (uint64_t)step);
		i = (uint32_t)(random % KEYS);
		key = items[i];
		hash = key % 61;
		assert_int_equal(index_map_find(&map, hash, equal, items, &key),
				 present[i] ? i : INDEX_MAP_NONE);
		if (present[i])
			index_map_remove(&map, hash, i);
		else
			assert_int_equal(index_map_insert(&map, hash, i), 0);
		present[i] = !present[i];
	}
	for (uint32_t i = 0; i < KEYS; i++)
		assert_int_equal(index_map_find(&map, items[i] % 61, equal, items, &items[i]),
				 present[i] ? i : INDEX_MAP_NONE);
	index_map_deinit(&map);
}

CASE(test_remove_what_is_not_there)
{
	struct index_map map = {0};

	index_map_remove(&map, 1, 0);
	assert_int_equal(index_map_insert(&map, 1, 0), 0);
	index_map_remove(&map, 1, 5);
	index_map_remove(&map, 2, 0);
	assert_int_equal(map.size, 1);
	index_map_deinit(&map);
}
