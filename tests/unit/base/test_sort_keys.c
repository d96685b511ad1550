/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "base/hash.h"
#include "base/sort_keys.h"
#include "tests/unit/cases.h"

#define COUNT 5000

static struct sort_key keys[COUNT];

/* Sort the keys of make(), and check that the result is sorted, stable and complete. */
static void check(size_t count, uint64_t (*make)(uint32_t item))
{
	uint64_t before = 0, after = 0;

	for (uint32_t i = 0; i < count; i++) {
		keys[i] = (struct sort_key){make(i), i, i * 3};
		before += hash_mix(keys[i].key, i);
	}
	assert_int_equal(sort_keys(keys, count), 0);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(keys[i].weight, keys[i].item * 3);
		after += hash_mix(keys[i].key, keys[i].item);
		if (!i)
			continue;
		assert_true(keys[i - 1].key <= keys[i].key);
		if (keys[i - 1].key == keys[i].key)
			assert_true(keys[i - 1].item < keys[i].item);
	}
	assert_int_equal(before, after);
}

static uint64_t any(uint32_t item)
{
	return hash_mix(item, 7);
}

static uint64_t few(uint32_t item)
{
	return hash_mix(item, 7) % 10;
}

static uint64_t high(uint32_t item)
{
	return 0xffffffff80000000 + hash_mix(item, 7) % 0x1000000;
}

static uint64_t descending(uint32_t item)
{
	return UINT64_MAX - item;
}

static uint64_t ascending(uint32_t item)
{
	return item / 2;
}

static uint64_t ends(uint32_t item)
{
	return item % 2 ? UINT64_MAX : 0;
}

CASE(sorts_and_is_stable)
{
	uint64_t (*const makers[])(uint32_t) = {any, few, high, descending, ascending, ends};

	for (unsigned i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
		for (size_t count = 0; count < 20; count++)
			check(count, makers[i]);
		check(COUNT, makers[i]);
	}
}
