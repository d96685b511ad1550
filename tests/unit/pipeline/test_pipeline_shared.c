/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Workers that run code of each other in shared memory. */
#include <stdint.h>

#include <linux/mman.h>

#include "pipeline/analysis/analysis_state.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/made_run.h"

#define WORKER 101

static void share(struct made_run *run, uint64_t time_ns, uint32_t pid, uint64_t address)
{
	struct jitbpf_mapping *mapping =
		make_mapping(run, time_ns, pid, address, "/dev/zero (deleted)");

	mapping->map_flags = MAP_SHARED;
}

static void sample(struct made_run *run, uint64_t time_ns, uint32_t pid, uint64_t ip)
{
	make_sample_of(run, time_ns, pid, 0, &ip, 1);
}

/* A cached stack is located again when another process has changed the code. */
CASE_WITH(test_worker_runs_what_another_compiled, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	share(run, 10, MADE_PID, MADE_CODE);
	make_task(run, JITBPF_FORK, 20, WORKER, MADE_PID);
	for (uint64_t time_ns = 21; time_ns < 24; time_ns++)
		sample(run, time_ns, WORKER, MADE_CODE + 4);
	make_load(run, 30, 0, "first");
	for (uint64_t time_ns = 31; time_ns < 34; time_ns++)
		sample(run, time_ns, WORKER, MADE_CODE + 4);
	make_jit_of(run, 40, WORKER, 0, 0, "second");
	sample(run, 41, MADE_PID, MADE_CODE + 4);
	sample(run, 42, WORKER, MADE_CODE + 4);
	ledger = made_finish(run, 50);
	assert_int_equal(run->seen[2].kind, LOCATION_ANON);
	assert_string_equal(run->seen[3].name, "first");
	assert_string_equal(run->seen[5].name, "first");
	assert_string_equal(run->seen[6].name, "second");
	assert_string_equal(run->seen[7].name, "second");
	assert_int_equal(run->seen[7].offset, 4);
	assert_int_equal(ledger->jit.methods, 2);
	assert_int_equal(ledger->processes.data[0].jit.methods, 1);
	assert_int_equal(ledger->processes.data[1].jit.methods, 1);
}

/* A load without an address is in no memory; the method's later code may be in shared memory. */
CASE_WITH(test_registered_without_code, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	share(run, 10, MADE_PID, MADE_CODE);
	make_task(run, JITBPF_FORK, 20, WORKER, MADE_PID);
	make_load(run, 30, 0, "registered")->address = 0;
	make_load(run, 31, 1, "first")->method_id = 1;
	sample(run, 32, WORKER, MADE_CODE + 4);
	make_load(run, 33, 2, "second")->method_id = 1;
	sample(run, 34, WORKER, MADE_CODE + 4);
	ledger = made_finish(run, 50);
	assert_string_equal(run->seen[0].name, "registered");
	assert_string_equal(run->seen[1].name, "second"); /* the method has ended with its region */
	assert_int_equal(ledger->jit.methods, 2);
	assert_int_equal(ledger->jit.invalid, 0);
	assert_int_equal(ledger->jit.other_events, 1);
}

/* Unrelated processes map the same file at different addresses. */
CASE_WITH(test_strangers, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;

	share(run, 10, MADE_PID, MADE_CODE);
	share(run, 10, WORKER, 0x900000);
	make_load(run, 20, 0, "theirs");
	sample(run, 30, WORKER, 0x900010);
	sample(run, 31, WORKER, MADE_CODE);
	made_finish(run, 50);
	assert_string_equal(run->seen[0].name, "theirs");
	assert_int_equal(run->seen[0].offset, 0x10);
	assert_int_equal(run->seen[1].kind, LOCATION_UNKNOWN);
}

/* Code from the journal of a process, from before the recording, is valid for all that share it. */
CASE_WITH(test_late, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	struct jitbpf_jit_header *header;

	share(run, 10, MADE_PID, MADE_CODE);
	share(run, 10, WORKER, MADE_CODE);
	header = make_load(run, 20, 5, "late");
	header->time_ns = 10;
	run->records[run->record_count - 1]->flags = JITBPF_JIT_FROM_JOURNAL | JITBPF_JIT_LATE;
	sample(run, 11, WORKER, MADE_CODE);
	assert_int_equal(made_finish(run, 50)->jit.late, 1);
	assert_string_equal(run->seen[0].name, "late");
}
