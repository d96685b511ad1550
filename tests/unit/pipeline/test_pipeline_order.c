/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records come from several sources in any order; their times decide. */
#include <stdint.h>

#include "pipeline/analysis/analysis_state.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/made_run.h"

#define SECOND 1000000000ull

static void assert_seen(const struct made_run *run, size_t i, uint64_t time_ns, const char *name)
{
	assert_true(i < run->seen_count);
	assert_int_equal(run->seen[i].time_ns, time_ns);
	assert_string_equal(run->seen[i].name, name);
}

/* Samples before and after an overwrite, in one round, in the worst order. */
CASE_WITH(test_loads_within_a_round, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_sample(run, 60, MADE_CODE + 8);
	make_sample(run, 40, MADE_CODE + 8);
	make_sample(run, 10, MADE_CODE + 8);
	make_load(run, 50, 1, "second");
	make_load(run, 20, 0, "first");
	make_mapping(run, 5, MADE_PID, MADE_CODE, "//anon");
	made_round(run, 100);
	assert_int_equal(run->seen_count, 3);
	assert_seen(run, 0, 10, "");
	assert_int_equal(run->seen[0].kind, LOCATION_ANON);
	assert_seen(run, 1, 40, "first");
	assert_seen(run, 2, 60, "second");
	assert_int_equal(run->seen[2].offset, 8);
}

/* Records of equal time keep their order of arrival. */
CASE_WITH(test_same_time, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_load(run, 20, 0, "first");
	make_sample(run, 20, MADE_CODE);
	make_load(run, 20, 1, "second");
	make_sample(run, 20, MADE_CODE);
	made_round(run, 100);
	assert_seen(run, 0, 20, "first");
	assert_seen(run, 1, 20, "second");
}

/*
 * Sources are drained one after the other. Records from after the start of the
 * drain wait for the next round, when the other sources have been drained up to
 * their time.
 */
CASE_WITH(test_what_is_later_waits, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_load(run, 10, 0, "early");
	make_load(run, 120, 2, "late");
	make_sample(run, 130, MADE_CODE);
	make_comm(run, 140, MADE_PID, "renamed", false);
	made_round(run, 100);
	assert_int_equal(run->seen_count, 0);
	make_sample(run, 115, MADE_CODE);
	make_sample(run, 125, MADE_CODE);
	make_load(run, 110, 1, "between");
	made_round(run, 200);
	assert_int_equal(run->seen_count, 3);
	assert_seen(run, 0, 115, "between");
	assert_seen(run, 1, 125, "late");
	assert_seen(run, 2, 130, "late");
	assert_string_equal(run->seen[2].comm, "thread");
}

/* A child inherits its parent's loads before the fork, whichever source is drained first. */
CASE_WITH(test_fork_after_a_load_of_the_next_round, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	uint64_t ip = MADE_CODE;

	make_mapping(run, 1, MADE_PID, MADE_CODE, "//anon");
	make_task(run, JITBPF_FORK, 120, 200, MADE_PID);
	made_round(run, 100);
	make_load(run, 110, 0, "parent's");
	make_sample_of(run, 130, 200, 88, &ip, 1);
	made_round(run, 200);
	assert_seen(run, 0, 130, "parent's");
}

/* At the end of the source, or at its failure, nothing is left waiting. */
CASE_WITH(test_nothing_waits_for_ever, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_sample(run, 130, MADE_CODE);
	made_round(run, 100);
	make_sample(run, 50 * SECOND, MADE_CODE);
	assert_int_equal(made_drained(run, -EBADMSG, 200), -EBADMSG);
	assert_int_equal(run->seen_count, 2);
	make_sample(run, 140, MADE_CODE);
	assert_int_equal(made_drained(run, SOURCE_OPEN, 100), SOURCE_OPEN);
	assert_int_equal(run->seen_count, 2);
	assert_int_equal(made_drained(run, SOURCE_END, 100), SOURCE_END);
	assert_int_equal(run->seen_count, 3);
}

/* A sample that arrives rounds later is located by the code of its time. */
CASE_WITH(test_late_sample, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_load(run, 10, 0, "first");
	make_sample(run, 30, MADE_CODE);
	made_round(run, 100);
	make_load(run, 110, 1, "second");
	make_sample(run, 130, MADE_CODE);
	made_round(run, 200);
	make_sample(run, 40, MADE_CODE);
	make_sample(run, 140, MADE_CODE);
	make_sample(run, 5, MADE_CODE);
	make_sample(run, 41, MADE_CODE);
	make_sample(run, 141, MADE_CODE);
	made_round(run, 300);
	assert_seen(run, 0, 30, "first");
	assert_seen(run, 1, 130, "second");
	assert_seen(run, 2, 5, "");
	assert_seen(run, 3, 40, "first");
	assert_seen(run, 4, 41, "first");
	assert_seen(run, 5, 140, "second");
	assert_seen(run, 6, 141, "second");
}

/* Any change in a process invalidates the stack cache. */
CASE_WITH(test_what_was_located_is_looked_up_again, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_mapping(run, 1, MADE_PID, MADE_CODE, "//anon");
	make_sample(run, 2, MADE_CODE);
	make_sample(run, 3, MADE_CODE);
	make_load(run, 10, 0, "loaded");
	make_sample(run, 11, MADE_CODE);
	make_sample(run, 12, MADE_CODE);
	make_load(run, 20, 0, "")->event = 14; /* unload */
	make_sample(run, 21, MADE_CODE);
	make_mapping(run, 30, MADE_PID, MADE_CODE, "/lib/x.so");
	make_sample(run, 31, MADE_CODE);
	make_comm(run, 40, MADE_PID, "new", true);
	make_sample(run, 41, MADE_CODE);
	made_round(run, 100);
	assert_int_equal(run->seen[0].kind, LOCATION_ANON);
	assert_int_equal(run->seen[1].kind, LOCATION_ANON);
	assert_seen(run, 2, 11, "loaded");
	assert_seen(run, 3, 12, "loaded");
	assert_int_equal(run->seen[4].kind, LOCATION_ANON);
	assert_int_equal(run->seen[5].kind, LOCATION_NATIVE);
	assert_int_equal(run->seen[6].kind, LOCATION_UNKNOWN);
	assert_string_equal(run->seen[5].comm, "thread");
	assert_string_equal(run->seen[6].comm, "new");
}

CASE_WITH(test_exec_ends_the_old_program, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_load(run, 10, 0, "old");
	make_sample(run, 15, MADE_CODE);
	make_comm(run, 20, MADE_PID, "program", true);
	make_sample(run, 25, MADE_CODE);
	make_load(run, 30, 0, "new");
	make_sample(run, 35, MADE_CODE);
	made_round(run, 100);
	make_sample(run, 16, MADE_CODE);
	made_round(run, 200);
	assert_seen(run, 0, 15, "old");
	assert_seen(run, 1, 25, "");
	assert_seen(run, 2, 35, "new");
	assert_seen(run, 3, 16, "old");
}

/* A reused pid is another process, in the ledger too. */
CASE_WITH(test_pid_reuse, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	uint64_t ip = MADE_CODE;
	const struct ledger *ledger;

	make_load(run, 10, 0, "first's");
	make_sample(run, 15, MADE_CODE);
	make_task(run, JITBPF_EXIT, 20, MADE_PID, 1);
	make_task(run, JITBPF_FORK, 30, MADE_PID, 1);
	make_sample_of(run, 35, MADE_PID, 99, &ip, 1);
	make_jit_of(run, 40, MADE_PID, 99, 0, "second's");
	make_sample_of(run, 45, MADE_PID, 99, &ip, 1);
	make_sample(run, 19, MADE_CODE);
	make_sample(run, 46, MADE_CODE); /* a very late sample of the first process */
	ledger = made_finish(run, 100);
	assert_seen(run, 0, 15, "first's");
	assert_seen(run, 1, 19, "first's");
	assert_seen(run, 2, 35, "");
	assert_seen(run, 3, 45, "second's");
	assert_seen(run, 4, 46, "first's");
	assert_int_equal(ledger_taken(ledger), 5);
	for (size_t i = 0; i < ledger->processes.size; i++) {
		const struct ledger_process *row = &ledger->processes.data[i];

		if (row->samples.fate[FATE_RESOLVED])
			assert_int_equal(row->pid, MADE_PID);
	}
}

/* Some time after its exit a process is unknown; its samples still count. */
CASE_WITH(test_long_gone, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	make_load(run, 10, 0, "code");
	make_task(run, JITBPF_EXIT, 20, MADE_PID, 1);
	made_round(run, 30);
	made_round(run, 30 * SECOND);
	/* the previous round could still have samples of its time */
	made_round(run, 30 * SECOND + ROUND_STEP_NS);
	make_sample(run, 31 * SECOND, MADE_CODE);
	make_load(run, 31 * SECOND, 1, "nobody's");
	ledger = made_finish(run, 32 * SECOND);
	assert_seen(run, 0, 31 * SECOND, "");
	assert_int_equal(ledger->samples.fate[FATE_CODE_UNKNOWN], 1);
	assert_int_equal(ledger->jit.methods, 1);
	assert_int_equal(ledger->jit.invalid, 1);
}
