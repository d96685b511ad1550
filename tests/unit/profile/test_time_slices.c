/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <string.h>

#include "base/scope.h"
#include "profile/time_slices.h"
#include "tests/unit/cases.h"
#include "tests/unit/failing_memory.h"

#define COUNTS 100u
#define MAX    (1u << 15)

static void add(struct time_slices *slices, uint64_t tick, uint32_t count)
{
	assert_int_equal(time_slices_add(slices, tick * TIME_SLICES_TICK_NS, count, 1), 0);
}

static void assert_slices(struct time_slices *slices, const struct time_slice *expected,
			  size_t count)
{
	assert_int_equal(slices->slices.size, count);
	assert_memory_equal(slices->slices.data, expected, count * sizeof(*expected));
}

CASE(samples_are_in_their_ticks)
{
	CLEANUP(time_slices_deinit) struct time_slices slices = {0};
	static const struct time_slice sorted[] = {
		{0, 4, 1}, {0, 7, 2}, {2, 7, 1}, {3, 7, 1}, {UINT32_MAX - 1, 1, 1}};

	assert_int_equal(time_slices_add(&slices, 0, 7, 1), 0);
	assert_int_equal(time_slices_add(&slices, TIME_SLICES_TICK_NS * 3, 7, 1), 0);
	assert_int_equal(time_slices_add(&slices, TIME_SLICES_TICK_NS - 1, 7, 1), 0);
	assert_int_equal(time_slices_add(&slices, TIME_SLICES_TICK_NS * 3 - 1, 7, 1), 0);
	assert_int_equal(time_slices_add(&slices, UINT64_MAX, 1, 1), 0);
	assert_int_equal(time_slices_add(&slices, 5, 4, 1), 0);
	assert_int_equal(slices.slices.size, 6);
	time_slices_sort(&slices);
	assert_slices(&slices, sorted, ARRAY_SIZE(sorted));
}

/* More than a slice can count. */
CASE(large_numbers_of_samples_are_exact)
{
	CLEANUP(time_slices_deinit) struct time_slices slices = {0};
	uint64_t sum = 0;

	for (int i = 0; i < 3; i++)
		add(&slices, 1, 2);
	for (int i = 0; i < 3; i++)
		slices.slices.data[i].samples = UINT32_MAX - 1;
	time_slices_sort(&slices);
	vec_for_each (slice, &slices.slices)
		sum += slice->samples;
	assert_int_equal(sum, 3 * (uint64_t)(UINT32_MAX - 1));
}

static uint32_t next_random(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1103515245 + 12345;
	return (uint32_t)((uint64_t)(*seed >> 4) * below >> 28);
}

/* The ends are valid, and slices that have been folded are at the beginning of their ticks. */
static void check_levels(const struct time_slices *slices)
{
	for (uint32_t i = 0; i < TIME_SLICES_LEVELS; i++) {
		assert_int_equal(slices->ends[i] % (2u << i), 0);
		assert_true(!i || slices->ends[i] <= slices->ends[i - 1]);
	}
	for (size_t at = 0; at < slices->folded; at++) {
		uint32_t tick = slices->slices.data[at].tick;

		for (uint32_t i = 0; i < TIME_SLICES_LEVELS && tick < slices->ends[i]; i++)
			assert_int_equal(tick % (2u << i), 0);
	}
}

struct day {
	struct time_slices slices;
	uint64_t samples[COUNTS];
	uint32_t seed;
};

/* Samples of a second: 20, some of them late. */
static void pass_second(struct day *day, uint32_t second)
{
	for (uint32_t i = 0; i < 20; i++) {
		uint32_t late = next_random(&day->seed, 50) ? 0 : 20;
		uint32_t tick = second * 20 + i, count = next_random(&day->seed, COUNTS);

		add(&day->slices, tick > late ? tick - late : 0, count);
		day->samples[count]++;
	}
}

/*
 * A day of 1.7 million samples: the number of slices stays near its limit, each count keeps its
 * samples, and the latest minutes keep their detail.
 */
CASE(a_day_stays_flat)
{
	static struct day day = {.slices.max = MAX, .seed = 1};
	static uint64_t found[COUNTS];
	size_t largest = 0;

	for (uint32_t second = 0; second < 86400; second++) {
		pass_second(&day, second);
		if (day.slices.slices.size > largest)
			largest = day.slices.slices.size;
	}
	assert_true(day.slices.folds > 10);
	assert_true(largest <= MAX + MAX / 2);
	check_levels(&day.slices);
	assert_true(day.slices.ends[0] < (86400 - 200) * 20);
	assert_true(day.slices.ends[8] > 0);
	assert_int_equal(day.slices.ends[TIME_SLICES_LEVELS - 1], 0);
	vec_for_each (slice, &day.slices.slices)
		found[slice->count] += slice->samples;
	assert_memory_equal(found, day.samples, sizeof(found));
	time_slices_deinit(&day.slices);
}

/* All stacks are different: nothing can be added, and each sample is still there. */
CASE(different_stacks_are_all_kept)
{
	CLEANUP(time_slices_deinit) struct time_slices slices = {.max = MAX};

	for (uint32_t i = 0; i < 2 * MAX; i++)
		add(&slices, i / 100, i);
	assert_int_equal(slices.slices.size, 2 * MAX);
	assert_true(slices.folds < 20);
	/* The list is not longer after a fold of those that are equal. */
	for (uint32_t i = 0; i < 2 * MAX; i++)
		add(&slices, i / 100, i);
	assert_true(slices.slices.size < 3 * MAX);
}

CASE(other_slices_are_followed)
{
	CLEANUP(time_slices_deinit) struct time_slices slices = {0};
	uint32_t ends[TIME_SLICES_LEVELS] = {8, 4};
	static const struct time_slice folded[] = {{0, 1, 2}, {4, 1, 2}, {6, 1, 1}, {8, 1, 1}};

	add(&slices, 1, 1);
	add(&slices, 3, 1);
	add(&slices, 5, 1);
	add(&slices, 4, 1);
	add(&slices, 7, 1);
	add(&slices, 8, 1);
	ends[0] = 7;
	assert_int_equal(time_slices_follow(&slices, ends), -EINVAL);
	ends[0] = 2;
	assert_int_equal(time_slices_follow(&slices, ends), -EINVAL);
	assert_int_equal(slices.slices.size, 6);
	ends[0] = 8;
	assert_int_equal(time_slices_follow(&slices, ends), 0);
	assert_slices(&slices, folded, ARRAY_SIZE(folded));
	/* Ends never fall. */
	memset(ends, 0, sizeof(ends));
	assert_int_equal(time_slices_follow(&slices, ends), 0);
	assert_int_equal(slices.ends[0], 8);
	add(&slices, 3, 1);
	assert_int_equal(slices.slices.data[4].tick, 0);
}

/* Any keys are sorted without memory, as equal slices next to each other: none is left to merge. */
CASE(slices_in_any_order)
{
	CLEANUP(time_slices_deinit) struct time_slices slices = {0};
	uint32_t seed = 7, sum = 0;

	for (uint32_t i = 0; i < 40000; i++) {
		uint32_t tick = next_random(&seed, 2) ? next_random(&seed, 300) : i << 16;

		add(&slices, tick, next_random(&seed, i % 3 ? 20 : 1u << 24));
	}
	counting_allocations = true;
	allocations_left = 0;
	time_slices_sort(&slices);
	counting_allocations = false;
	for (size_t i = 0; i < slices.slices.size; i++) {
		const struct time_slice *at = &slices.slices.data[i];

		sum += at->samples;
		assert_true(!i || at[-1].tick < at->tick ||
			    (at[-1].tick == at->tick && at[-1].count < at->count));
	}
	assert_int_equal(sum, 40000);
	assert_true(slices.slices.size < 40000);
}
