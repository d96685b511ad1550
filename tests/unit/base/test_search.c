/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <stdbool.h>

#include "base/scope.h"
#include "base/search.h"
#include "tests/unit/cases.h"

static uint64_t calls, least, most;

/* The condition, which also notes where it was asked for. */
static bool is_before(uint64_t at, uint64_t point)
{
	calls++;
	least = at < least ? at : least;
	most = at > most ? at : most;
	return at < point;
}

static void begin(void)
{
	calls = most = 0;
	least = UINT64_MAX;
}

/* Every point of every small range; nothing outside of the range is looked at. */
CASE(test_all_small_ranges)
{
	for (size_t low = 0; low < 3; low++) {
		for (size_t high = low; high < low + 70; high++) {
			for (size_t point = low; point <= high; point++) {
				begin();
				assert_int_equal(partition_point(low, high, i, is_before(i, point)),
						 point);
				assert_true(calls <= 7);
				assert_true(!calls || (least >= low && most < high));
			}
		}
	}
}

CASE(test_condition_that_always_or_never_holds)
{
	assert_int_equal(partition_point(10, 1000, i, is_before(i, 5000)), 1000);
	assert_int_equal(partition_point(10, 1000, i, is_before(i, 5)), 10);
}

CASE(test_no_range)
{
	begin();
	assert_int_equal(partition_point(0, 0, i, is_before(i, 1)), 0);
	assert_int_equal(partition_point(5, 5, i, is_before(i, 9)), 5);
	assert_int_equal(partition_point(1u, 0u, i, is_before(i, 9)), 1);
	assert_int_equal(calls, 0);
}

CASE(test_numbers_do_not_wrap)
{
	const uint32_t last32 = UINT32_MAX;
	const uint64_t last64 = UINT64_MAX;

	assert_int_equal(partition_point(0, last32, i, is_before(i, last32)), last32);
	assert_int_equal(partition_point(0, last32, i, is_before(i, last32 - 1)), last32 - 1);
	assert_int_equal(partition_point(last32 - 3, last32, i, is_before(i, last32 - 1)),
			 last32 - 1);
	begin();
	assert_true(partition_point(0, last64, i, is_before(i, last64)) == last64);
	assert_true(partition_point(0, last64, i, is_before(i, 12345)) == 12345);
	assert_true(calls <= 128);
}

/* Equal items: the first of them, or behind the last, as the comparison says. */
CASE(test_equal_items)
{
	static const uint8_t items[] = {1, 3, 3, 3, 3, 7, 7, 9};

	assert_int_equal(partition_point(0, ARRAY_SIZE(items), i, items[i] < 3), 1);
	assert_int_equal(partition_point(0, ARRAY_SIZE(items), i, items[i] <= 3), 5);
	assert_int_equal(partition_point(0, ARRAY_SIZE(items), i, items[i] < 8), 7);
	assert_int_equal(partition_point(0, ARRAY_SIZE(items), i, items[i] <= 9), 8);
	assert_int_equal(partition_point(0, ARRAY_SIZE(items), i, items[i] < 1), 0);
}

/* Arguments with side effects are evaluated once. */
CASE(test_arguments_once)
{
	size_t low = 2, high = 9;

	assert_int_equal(partition_point(low++, high--, i, is_before(i, 4)), 4);
	assert_int_equal(low, 3);
	assert_int_equal(high, 8);
}

/* Unsorted items end the search too, somewhere in the range. */
CASE(test_unsorted)
{
	static const uint8_t items[] = {9, 1, 8, 2, 7, 3, 6, 4, 5};

	for (uint8_t wanted = 0; wanted <= 10; wanted++) {
		size_t at = partition_point(0, ARRAY_SIZE(items), i, items[i] < wanted);

		assert_true(at <= ARRAY_SIZE(items));
	}
}
