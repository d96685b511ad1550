/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "base/hash.h"
#include "base/intern.h"
#include "tests/unit/cases.h"

struct item {
	uint32_t key, value;
};

struct table {
	VEC(struct item) items;
	struct index_map index;
};

static bool equal(const void *items, uint32_t item, const void *key)
{
	return ((const struct item *)items)[item].key == ((const struct item *)key)->key;
}

static int intern(struct table *table, uint32_t key, uint32_t value, uint32_t *ret)
{
	const struct item item = {key, value};

	/* Few hashes, so that items that differ share one. */
	return vec_intern(&table->items, &table->index, hash_mix(key % 16, 0), equal, &item, ret);
}

CASE(test_found_or_appended)
{
	struct table table = {0};
	uint32_t number;

	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(intern(&table, i * 3, i, &number), 1);
		assert_int_equal(number, i);
	}
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(intern(&table, i * 3, 0, &number), 0);
		assert_int_equal(number, i);
		assert_int_equal(table.items.data[i].value, i); /* as it was appended */
	}
	assert_int_equal(table.items.size, 1000);
	assert_int_equal(table.index.size, 1000);
	vec_deinit(&table.items);
	index_map_deinit(&table.index);
}

/* A vec that can hold no more numbers: nothing changes. */
CASE(test_full)
{
	struct table table = {0};
	uint32_t number = 7;

	table.items.size = INDEX_MAP_NONE - 1;
	assert_int_equal(intern(&table, 1, 1, &number), -ENOMEM);
	assert_int_equal(number, 7);
	assert_int_equal(table.items.size, INDEX_MAP_NONE - 1);
	assert_int_equal(table.index.size, 0);
}

/* Arguments with side effects are evaluated once. */
CASE(test_arguments_once)
{
	const struct item items[] = {{1, 1}, {2, 2}}, *at = items;
	uint32_t numbers[2] = {9, 9}, *ret = numbers;
	struct table table = {0};

	assert_int_equal(vec_intern(&table.items, &table.index, 5, equal, at++, ret++), 1);
	assert_ptr_equal(at, items + 1);
	assert_ptr_equal(ret, numbers + 1);
	assert_int_equal(numbers[0], 0);
	assert_int_equal(numbers[1], 9);
	vec_deinit(&table.items);
	index_map_deinit(&table.index);
}
