/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/sink/made_view.h"

#include "base/scope.h"
#include "sink/thread_counts.h"

static void samples_are_counted_by_stack_and_thread(void **state)
{
	CLEANUP(thread_counts_deinit) struct thread_counts counts = {0};
	static const struct sink_sample samples[] = {
		{.pid = 1, .tid = 1, .comm = 5, .node = 7},
		{.pid = 1, .tid = 2, .comm = 5, .node = 7},
		{.pid = 1, .tid = 1, .comm = 5, .node = 8},
		{.pid = 1, .tid = 1, .comm = 5, .node = 7},
		{.pid = 1, .tid = 1, .comm = 6, .node = 7},
		{.pid = 2, .tid = 1, .comm = 5, .node = 7},
		{.pid = 1, .tid = 1, .comm = 5, .node = 7},
	};
	static const struct thread_count expected[] = {
		{7, 0, 3}, {7, 1, 1}, {8, 0, 1}, {7, 2, 1}, {7, 3, 1}};

	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		assert_int_equal(thread_counts_add(&counts, &samples[i]), 0);
	assert_int_equal(counts.counts.size, ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		assert_int_equal(counts.counts.data[i].node, expected[i].node);
		assert_int_equal(counts.counts.data[i].thread, expected[i].thread);
		assert_int_equal(counts.counts.data[i].samples, expected[i].samples);
	}
	assert_int_equal(counts.threads.size, 4);
	assert_int_equal(counts.threads.data[1].tid, 2);
	assert_int_equal(counts.threads.data[2].comm, 6);
	assert_int_equal(counts.threads.data[3].pid, 2);
}

/* Repeated samples use no more memory. */
static void many_samples_are_few_counts(void **state)
{
	CLEANUP(thread_counts_deinit) struct thread_counts counts = {0};

	for (uint32_t i = 0; i < 200000; i++) {
		struct sink_sample sample = {.pid = 1, .tid = i % 10, .node = i % 1000};

		assert_int_equal(thread_counts_add(&counts, &sample), 0);
	}
	assert_int_equal(counts.counts.size, 1000);
	vec_for_each (count, &counts.counts)
		assert_int_equal(count->samples, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_counted_by_stack_and_thread),
		cmocka_unit_test(many_samples_are_few_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
