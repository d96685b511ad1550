/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "pipeline/analysis/sample_filter.h"
#include "tests/unit/cases.h"

#define START 1000

static bool passes(const struct sample_filter *filter, uint64_t at_ns, uint32_t pid, uint32_t tid)
{
	struct jitbpf_sample sample = {
		.h.time_ns = START + at_ns,
		.pid = pid,
		.tid = tid,
		.comm = "worker",
	};

	return sample_filter_passes(filter, &sample, sample.comm, "server", NULL, START);
}

CASE(test_empty_lets_all_pass)
{
	struct sample_filter filter = {0};

	assert_false(sample_filter_is_set(&filter));
	assert_true(passes(&filter, 0, 1, 1));
	assert_true(sample_filter_passes_lost(&filter, 1, "server", NULL));
}

CASE(test_time_is_half_open)
{
	struct sample_filter filter = {.from_ns = 10, .to_ns = 20};

	assert_true(sample_filter_is_set(&filter));
	assert_false(passes(&filter, 9, 1, 1));
	assert_true(passes(&filter, 10, 1, 1));
	assert_true(passes(&filter, 19, 1, 1));
	assert_false(passes(&filter, 20, 1, 1));
	assert_false(sample_filter_passes_lost(&filter, 1, "server", NULL));
}

CASE(test_lists)
{
	static const uint32_t numbers[] = {5, 7};
	static const char *const workers[] = {"nobody", "worker"};
	static const char *const servers[] = {"server"};
	struct sample_filter by_pid = {.pids = numbers, .pid_count = 2};
	struct sample_filter by_tid = {.tids = numbers, .tid_count = 2};
	struct sample_filter by_thread_name = {.comms = workers, .comm_count = 2};
	struct sample_filter by_process_name = {.comms = servers, .comm_count = 1};

	assert_true(passes(&by_pid, 0, 7, 1));
	assert_false(passes(&by_pid, 0, 1, 7));
	assert_true(passes(&by_tid, 0, 1, 7));
	assert_false(passes(&by_tid, 0, 7, 1));
	assert_true(passes(&by_thread_name, 0, 1, 1));
	assert_true(passes(&by_process_name, 0, 1, 1));
	by_thread_name.comm_count = 1;
	assert_false(passes(&by_thread_name, 0, 1, 1));
	assert_true(sample_filter_passes_lost(&by_pid, 5, "x", NULL));
	assert_false(sample_filter_passes_lost(&by_pid, 6, "x", NULL));
	assert_false(sample_filter_passes_lost(&by_tid, 5, "x", NULL));
	assert_false(sample_filter_passes_lost(&by_process_name, 5, "x", NULL));
}

/* A name of at most 15 bytes may be an abbreviation; longer ones are compared whole. */
CASE(test_long_names)
{
	static const struct {
		const char *wanted, *name;
		bool passes;
	} cases[] = {
		{"request-handler-alpha", "request-handler-alpha", true},
		{"request-handler-alpha", "request-handler-beta", false},
		{"request-handler-alpha", "request-handler", true}, /* its comm */
		{"request-handler", "request-handler-beta", true},
		{"request-handle", "request-handler-beta", false},
	};
	struct jitbpf_sample sample = {.h.time_ns = START};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sample_filter filter = {.comms = &cases[i].wanted, .comm_count = 1};

		assert_int_equal(sample_filter_passes(&filter, &sample, cases[i].name, "server",
						      NULL, START),
				 cases[i].passes);
	}
}
