/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "base/hash.h"
#include "base/intern.h"
#include "base/item_index.h"
#include "base/scope.h"
#include "tests/unit/cases.h"

#define ITEMS 100000

static uint64_t hash_of(const void *items, uint32_t item)
{
	return hash_mix(((const uint32_t *)items)[item], 0);
}

/* Few hash values: all items are neighbours. */
static uint64_t poor_hash_of(const void *items, uint32_t item)
{
	return ((const uint32_t *)items)[item] % 3 * 0x100000001ull;
}

static bool equal(const void *items, uint32_t item, const void *key)
{
	return ((const uint32_t *)items)[item] == *(const uint32_t *)key;
}

/* Intern numbers below `keys` in a random order, and compare the places with an array. */
static void check_against_model(uint32_t keys, uint32_t steps, item_index_hash_fn hash)
{
	AUTO_FREE uint32_t *places = calloc(keys, sizeof(*places));
	struct item_index index = {0};
	VEC(uint32_t) items = {0};
	uint64_t random = 1;

	assert_non_null(places);
	for (uint32_t step = 0; step < steps; step++) {
		uint32_t key, place;
		int added;

		random = hash_mix(random, step);
		key = (uint32_t)(random % keys);
		added = vec_intern_item_in(NULL, 0, &items, &index, hash(&key, 0), hash, equal,
					   &key, &place);
		assert_int_equal(added, !places[key]);
		if (!places[key])
			places[key] = (uint32_t)items.size;
		assert_int_equal(place, places[key] - 1);
	}
	assert_int_equal(index.size, items.size);
	for (uint32_t key = 0; key < keys; key++)
		assert_int_equal(item_index_find(&index, hash(&key, 0), equal, items.data, &key),
				 places[key] ? places[key] - 1 : INDEX_MAP_NONE);
	/* What a budget is charged for an item is what it takes, within a half. */
	assert_in_range(index.capacity * sizeof(*index.slots), index.size * ITEM_INDEX_BYTES / 2,
			index.size * ITEM_INDEX_BYTES * 3 / 2);
	item_index_deinit(&index);
	vec_deinit(&items);
}

CASE(many_items)
{
	check_against_model(ITEMS, 3 * ITEMS, hash_of);
}

CASE(equal_hashes)
{
	check_against_model(1000, 5000, poor_hash_of);
}

CASE(an_empty_index_has_nothing)
{
	struct item_index index = {0};
	uint32_t key = 0;

	assert_int_equal(item_index_find(&index, 0, equal, &key, &key), INDEX_MAP_NONE);
}
