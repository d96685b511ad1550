/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "state/process/process_filter.h"
#include "tests/unit/cases.h"

static int fork_at(struct process_filter *filter, uint32_t parent, uint32_t child, uint64_t time_ns)
{
	struct jitbpf_task task = {
		.h = {.size_bytes = sizeof(task), .type = JITBPF_FORK, .time_ns = time_ns},
		.pid = child,
		.tid = child,
		.parent_pid = parent,
		.parent_tid = parent,
	};

	return process_filter_take(filter, &task.h);
}

static int comm_of(struct process_filter *filter, uint32_t pid)
{
	struct jitbpf_comm comm = {
		.h = {.size_bytes = sizeof(comm), .type = JITBPF_COMM},
		.pid = pid,
		.tid = pid,
	};

	return process_filter_take(filter, &comm.h);
}

CASE(test_follows_forks)
{
	struct process_filter filter = {0};
	struct jitbpf_record symbol = {.size_bytes = 32, .type = JITBPF_KERNEL_SYMBOL};

	assert_int_equal(process_filter_add(&filter, 10, 100), 0);
	assert_int_equal(fork_at(&filter, 1, 10, 90), 0); /* the tracked process itself */
	assert_int_equal(comm_of(&filter, 10), 1);
	assert_int_equal(comm_of(&filter, 11), 0);
	assert_int_equal(fork_at(&filter, 10, 11, 110), 1);
	assert_int_equal(fork_at(&filter, 11, 12, 120), 1);
	assert_int_equal(fork_at(&filter, 2, 13, 120), 0);
	assert_int_equal(fork_at(&filter, 12, 12, 130), 1); /* a thread */
	assert_int_equal(comm_of(&filter, 12), 1);
	assert_int_equal(comm_of(&filter, 13), 0);
	assert_int_equal(process_filter_take(&filter, &symbol), 1);
	process_filter_deinit(&filter);
}

CASE(test_pid_used_again)
{
	struct process_filter filter = {0};

	assert_int_equal(process_filter_add(&filter, 10, 100), 0);
	assert_int_equal(fork_at(&filter, 10, 11, 110), 1);
	/* the pid is reused by another process */
	assert_int_equal(fork_at(&filter, 2, 11, 500), 0);
	assert_int_equal(comm_of(&filter, 11), 0);
	assert_int_equal(fork_at(&filter, 10, 11, 600), 1); /* a child of a tracked process again */
	assert_int_equal(comm_of(&filter, 11), 1);
	process_filter_deinit(&filter);
}
