/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "base/scope.h"
#include "profile/thread_counts.h"
#include "tests/unit/cases.h"

static void add(struct thread_counts *counts, uint32_t node, struct sampled_thread thread,
		uint32_t expected)
{
	uint32_t number, count;

	assert_int_equal(thread_counts_thread(counts, &thread, &number), 0);
	assert_int_equal(thread_counts_add(counts, node, number, 1, &count), 0);
	assert_int_equal(count, expected);
}

CASE(samples_are_counted_by_stack_and_thread)
{
	CLEANUP(thread_counts_deinit) struct thread_counts counts = {0};
	static const struct thread_count expected[] = {{7, 0, 3}, {7, 1, 1}, {8, 0, 1}, {7, 2, 1},
						       {7, 3, 1}, {7, 4, 2}, {7, 5, 1}};

	add(&counts, 7, (struct sampled_thread){1, 1, 5}, 0);
	add(&counts, 7, (struct sampled_thread){1, 2, 5}, 1);
	add(&counts, 8, (struct sampled_thread){1, 1, 5}, 2);
	add(&counts, 7, (struct sampled_thread){1, 1, 5}, 0);
	add(&counts, 7, (struct sampled_thread){1, 1, 6}, 3);
	add(&counts, 7, (struct sampled_thread){2, 1, 5}, 4);
	add(&counts, 7, (struct sampled_thread){1, 1, 5}, 0);
	add(&counts, 7, (struct sampled_thread){1, 1, 5, 8, 0}, 5);
	add(&counts, 7, (struct sampled_thread){1, 1, 5, 0, 8}, 6);
	add(&counts, 7, (struct sampled_thread){1, 1, 5, 8, 0}, 5);
	assert_int_equal(counts.counts.size, ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		assert_int_equal(counts.counts.data[i].node, expected[i].node);
		assert_int_equal(counts.counts.data[i].thread, expected[i].thread);
		assert_int_equal(counts.counts.data[i].samples, expected[i].samples);
	}
	assert_int_equal(counts.threads.size, 6);
	assert_int_equal(counts.threads.data[1].tid, 2);
	assert_int_equal(counts.threads.data[2].comm, 6);
	assert_int_equal(counts.threads.data[3].pid, 2);
}

/* Repeated samples use no more memory. */
CASE(many_samples_are_few_counts)
{
	CLEANUP(thread_counts_deinit) struct thread_counts counts = {0};

	for (uint32_t i = 0; i < 200000; i++) {
		struct sampled_thread thread = {.pid = 1, .tid = i % 10};

		add(&counts, i % 1000, thread, i % 1000);
	}
	assert_int_equal(counts.counts.size, 1000);
	vec_for_each (count, &counts.counts)
		assert_int_equal(count->samples, 200);
}
