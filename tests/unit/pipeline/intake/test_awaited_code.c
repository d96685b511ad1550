/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples of code that a Java virtual machine reports after it ran. */
#include <stdint.h>

#include "pipeline/intake/intake_state.h"
#include "pipeline/pipeline_state.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/made_unwinder.h"
#include "uapi/jit_record.h"
#include "unwind/code/code_successors.h"

#define SECOND 1000000000ull
#define HELD   (CODE_SUCCESSOR_NS + 100) /* samples that wait for no code are emitted by then */
#define EARLY  (MADE_CODE + 0x4000)	 /* code that is reported before the samples */

static bool is_ready(uint64_t time_ns)
{
	(void)time_ns;
	return true;
}

static void make_java(struct made_run *run, uint64_t time_ns, uint64_t sequence, uint64_t address,
		      const char *name)
{
	struct jitbpf_jit_header *header = make_load(run, time_ns, sequence, name);

	header->event = JIT_EVENT_JVM_LOAD;
	header->address = address;
}

/* A run of a virtual machine that has reported some code. */
static int setup(void **state)
{
	struct made_run *run = malloc(sizeof(*run));

	made_require(run);
	made_unwinder = (struct unwinder){.is_ready = is_ready};
	made_run_begin(run, &made_unwinding);
	make_mapping(run, 1, MADE_PID, MADE_CODE, "//anon");
	make_java(run, 2, 0, EARLY, "early");
	made_round(run, 10);
	*state = run;
	return 0;
}

static struct intake *intake_of(struct made_run *run)
{
	return run->pipeline->intake;
}

CASE_WITH(test_waits_for_the_load, setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_sample(run, 20, MADE_CODE + 8);
	make_sample(run, 30, EARLY + 8);
	made_round(run, 100);
	made_round(run, HELD);
	assert_int_equal(run->seen_count, 1);
	assert_int_equal(run->seen[0].time_ns, 30);
	/* It needs no short rounds, and the walk is not repeated. */
	assert_false(pipeline_waits(run->pipeline));
	assert_int_equal(intake_of(run)->waiting.in_stage[WAIT_LOADS], 1);
	make_java(run, HELD + 20, 1, MADE_CODE, "late");
	made_round(run, HELD + 100);
	made_round(run, HELD + 110);
	assert_int_equal(run->seen_count, 2);
	assert_int_equal(run->seen[1].time_ns, 20);
	assert_string_equal(run->seen[1].name, "late");
	assert_int_equal(intake_of(run)->waiting.in_stage[WAIT_LOADS], 0);
	assert_int_equal(intake_of(run)->waiting.budget.used, 0);
}

/* A caller of code that is known. */
CASE_WITH(test_caller, setup, made_run_teardown)
{
	struct made_run *run = *state;
	const uint64_t callers[] = {MADE_CODE + 8};

	make_unfinished(run, 20, EARLY + 8, callers, 1, 0);
	made_round(run, 100);
	made_round(run, HELD);
	assert_int_equal(run->seen_count, 0);
	make_java(run, HELD + 20, 1, MADE_CODE, "late");
	made_round(run, HELD + 100);
	made_round(run, HELD + 110);
	assert_int_equal(run->seen_count, 1);
	assert_int_equal(run->seen[0].user_frames, 2);
}

CASE_WITH(test_given_up_after_a_second, setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	make_sample(run, 20, MADE_CODE + 8);
	made_round(run, SECOND);
	assert_int_equal(run->seen_count, 0);
	made_round(run, SECOND + 30);
	made_round(run, SECOND + 40);
	assert_int_equal(run->seen_count, 1);
	assert_int_equal(intake_of(run)->waiting.budget.used, 0);
	ledger = made_finish(run, 2 * SECOND);
	assert_int_equal(ledger->samples.fate[FATE_CODE_UNKNOWN], 1);
	assert_int_equal(ledger->counters[JITBPF_COUNT_STACKS_LATE], 0);
	assert_int_equal(ledger->counters[JITBPF_COUNT_WAITS_LOADS], 1);
	assert_int_equal(ledger->counters[JITBPF_COUNT_WAITS_LOADS_LATE], 1);
	assert_int_equal(ledger->counters[JITBPF_COUNT_WAITS_LOADS_MS], 1000);
}

CASE_WITH(test_end, setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	make_sample(run, 20, MADE_CODE + 8);
	made_round(run, 100);
	make_sample(run, 120, MADE_CODE + 8);
	ledger = made_finish(run, 200);
	assert_int_equal(ledger->samples.fate[FATE_CODE_UNKNOWN], 2);
}

/* The run ends while the sample waits: its memory is released (which sanitizers check). */
CASE_WITH(test_dropped, setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_sample(run, 20, MADE_CODE + 8);
	made_round(run, 100);
	assert_int_equal(intake_of(run)->waiting.in_stage[WAIT_LOADS], 1);
}

/* Code of other publishers is reported before it runs. */
CASE_WITH(test_others, setup, made_run_teardown)
{
	CLEANUP(made_run_end) struct made_run run;

	made_run_begin(&run, &made_unwinding);
	make_mapping(&run, 1, MADE_PID, MADE_CODE, "//anon");
	make_load(&run, 2, 0, "early");
	make_sample(&run, 20, MADE_CODE + 0x4000);
	made_round(&run, 100);
	assert_int_equal(run.seen_count, 1);
}

/* Beyond the budget, the oldest samples wait no longer. */
CASE_WITH(test_budget, setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;
	size_t early;

	intake_of(run)->waiting.budget.limit = 8 * sizeof(struct waiting_sample);
	for (uint64_t i = 0; i < 16; i++)
		make_sample(run, 20 + i, MADE_CODE + 8);
	made_round(run, 100);
	assert_in_range(intake_of(run)->waiting.in_stage[WAIT_LOADS], 4, 8);
	assert_int_equal(run->seen_count, 16 - intake_of(run)->waiting.in_stage[WAIT_LOADS]);
	for (size_t i = 0; i < run->seen_count; i++)
		assert_int_equal(run->seen[i].time_ns, 20 + i);
	early = run->seen_count;
	made_round(run, SECOND + 100);
	made_round(run, SECOND + 110);
	assert_int_equal(run->seen_count, 16);
	ledger = made_finish(run, 2 * SECOND);
	assert_int_equal(ledger->counters[JITBPF_COUNT_WAITS_OVER_SHARE], early);
	assert_int_equal(ledger->counters[JITBPF_COUNT_WAITS_LOADS], 16);
}
