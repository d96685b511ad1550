/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <stdlib.h>

#include "state/process/sequence_set.h"
#include "tests/unit/cases.h"

static void assert_runs(const struct sequence_set *set, size_t count, uint64_t missing)
{
	assert_int_equal(set->runs.size, count);
	assert_int_equal(sequence_set_missing(set), missing);
}

CASE(test_order_means_nothing)
{
	struct sequence_set set = {0};

	assert_int_equal(sequence_set_add(&set, 7), 1);
	assert_int_equal(sequence_set_add(&set, 9), 1);
	assert_runs(&set, 2, 1);
	assert_false(sequence_set_has(&set, 8));
	assert_int_equal(sequence_set_add(&set, 8), 1);
	assert_runs(&set, 1, 0);
	assert_int_equal(sequence_set_add(&set, 8), 0);
	assert_int_equal(sequence_set_add(&set, 6), 1);
	assert_true(sequence_set_has(&set, 6) && sequence_set_has(&set, 9));
	assert_false(sequence_set_has(&set, 5) || sequence_set_has(&set, 10));
	assert_runs(&set, 1, 0);
	sequence_set_deinit(&set);
}

/* The first number expected determines what is missing before the first number seen. */
CASE(test_count_from)
{
	struct sequence_set set = {0};

	sequence_set_count_from(&set, 0);
	assert_runs(&set, 0, 0);
	sequence_set_add(&set, 3);
	assert_runs(&set, 1, 3);
	sequence_set_add(&set, 9);
	assert_runs(&set, 2, 8);
	sequence_set_count_from(&set, 6);
	assert_runs(&set, 2, 3);
	sequence_set_count_from(&set, 9);
	assert_runs(&set, 2, 0);
	sequence_set_deinit(&set);
}

CASE(test_ends_of_the_count)
{
	struct sequence_set set = {0};

	sequence_set_add(&set, UINT64_MAX);
	assert_false(sequence_set_has(&set, 0));
	sequence_set_add(&set, 0);
	assert_runs(&set, 2, UINT64_MAX - 1);
	assert_int_equal(sequence_set_add(&set, UINT64_MAX), 0);
	assert_int_equal(sequence_set_add(&set, UINT64_MAX - 1), 1);
	assert_int_equal(sequence_set_add(&set, 1), 1);
	assert_runs(&set, 2, UINT64_MAX - 3);
	sequence_set_deinit(&set);
}

/* Sparse numbers of a hostile sender use no more memory than the limit, and stay counted. */
CASE(test_limit)
{
	struct sequence_set set = {0};

	for (uint64_t i = 0; i < 10 * SEQUENCE_RUNS_MAX; i++) {
		assert_int_equal(sequence_set_add(&set, 3 * i), 1);
		assert_true(set.runs.size <= SEQUENCE_RUNS_MAX);
	}
	assert_int_equal(sequence_set_missing(&set), 2 * (10 * SEQUENCE_RUNS_MAX - 1));
	assert_true(set.runs.capacity <= 2 * SEQUENCE_RUNS_MAX);
	sequence_set_deinit(&set);
}

/* The change that a number would make is the one that it makes. */
static void check_change(const struct sequence_set *set, uint64_t number)
{
	struct sequence_set with = *set;
	int64_t change = sequence_set_change(set, number);

	with.runs.data = NULL;
	with.runs.size = with.runs.capacity = 0;
	vec_for_each (run, &set->runs)
		assert_int_equal(vec_push(&with.runs, *run), 0);
	sequence_set_add(&with, number);
	assert_int_equal(sequence_set_missing(&with), sequence_set_missing(set) + (uint64_t)change);
	sequence_set_deinit(&with);
}

CASE(test_changes)
{
	for (unsigned seed = 1; seed <= 200; seed++) {
		struct sequence_set set = {0};

		srand(seed);
		if (seed % 2)
			sequence_set_count_from(&set, (uint64_t)rand() % 60);
		for (int i = 0; i < 40; i++) {
			uint64_t number = (uint64_t)rand() % 100;

			check_change(&set, number);
			sequence_set_add(&set, number);
		}
		sequence_set_deinit(&set);
	}
}

/* Random numbers are compared with an array of flags. */
CASE(test_random)
{
	enum { NUMBERS = 512 };

	for (unsigned seed = 1; seed <= 200; seed++) {
		struct sequence_set set = {0};
		bool came[NUMBERS] = {false};
		uint64_t missing = 0;
		int highest = -1;

		srand(seed);
		sequence_set_count_from(&set, 0);
		for (int i = 0; i < 400; i++) {
			int number = rand() % NUMBERS;

			check_change(&set, (uint64_t)number);
			assert_int_equal(sequence_set_add(&set, (uint64_t)number), !came[number]);
			came[number] = true;
			highest = number > highest ? number : highest;
		}
		for (int i = 0; i < NUMBERS; i++) {
			assert_int_equal(sequence_set_has(&set, (uint64_t)i), came[i]);
			missing += i < highest && !came[i];
		}
		assert_int_equal(sequence_set_missing(&set), missing);
		sequence_set_deinit(&set);
	}
}
