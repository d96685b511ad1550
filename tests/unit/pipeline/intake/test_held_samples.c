/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples of a Java virtual machine are held until the end of their code is reported. */
#include <stdint.h>

#include "pipeline/intake/intake_state.h"
#include "pipeline/pipeline_state.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/made_unwinder.h"
#include "uapi/jit_record.h"
#include "unwind/code/code_successors.h"

#define HELD CODE_SUCCESSOR_NS

static bool is_ready(uint64_t time_ns)
{
	(void)time_ns;
	return true;
}

/* A run of a virtual machine that has reported code. */
static int setup(void **state)
{
	struct made_run *run = malloc(sizeof(*run));

	made_require(run);
	made_unwinder = (struct unwinder){.is_ready = is_ready};
	made_run_begin(run, &made_unwinding);
	make_mapping(run, 1, MADE_PID, MADE_CODE, "//anon");
	make_load(run, 2, 0, "method")->event = JIT_EVENT_JVM_LOAD;
	made_round(run, 10);
	*state = run;
	return 0;
}

static struct waiting_samples *waiting_of(struct made_run *run)
{
	return &run->pipeline->intake->waiting;
}

static size_t held_of(struct made_run *run)
{
	return waiting_of(run)->in_stage[WAIT_HOLD];
}

CASE_WITH(test_held, setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_sample(run, 20, MADE_CODE + 8);
	make_sample(run, 30, MADE_CODE + 8);
	made_round(run, 100);
	made_round(run, HELD + 20);
	assert_int_equal(run->seen_count, 0);
	assert_int_equal(held_of(run), 2);
	assert_false(pipeline_waits(run->pipeline)); /* needs no short rounds */
	made_round(run, HELD + 21);
	assert_int_equal(run->seen_count, 1);
	assert_int_equal(run->seen[0].time_ns, 20);
	assert_string_equal(run->seen[0].name, "method");
	made_round(run, HELD + 31);
	assert_int_equal(run->seen_count, 2);
	assert_int_equal(waiting_of(run)->counts[WAIT_HOLD].ends[WAIT_ENDED], 2);
	assert_int_equal(waiting_of(run)->budget.used, 0);
}

/* A sample whose rows came late has waited already. */
CASE_WITH(test_waited_already, setup, made_run_teardown)
{
	struct made_run *run = *state;

	made_round(run, HELD + 100);
	make_sample(run, 30, MADE_CODE + 8);
	made_round(run, HELD + 200);
	assert_int_equal(run->seen_count, 1);
	assert_int_equal(made_unwinder.told_of, 1);
}

static void make_unfinished_of(struct made_run *run, bool with_bytes)
{
	const uint64_t callers[] = {MADE_CODE + 0x18, MADE_CODE + 0x28};
	struct jitbpf_sample *sample;

	if (!with_bytes) {
		make_unfinished(run, 20, MADE_CODE + 8, callers, 2, JITBPF_SAMPLE_USER_REGS);
		return;
	}
	sample = make_record(run, JITBPF_SAMPLE,
			     sizeof(*sample) + 8 + sizeof(struct jitbpf_code_bytes), 20);
	sample->h.flags = JITBPF_SAMPLE_CODE_BYTES;
	sample->pid = sample->tid = MADE_PID;
	sample->start_ns = MADE_START;
	sample->user_words = 1;
	sample->user_end = JITBPF_END_ROOT;
	strcpy(sample->comm, "thread");
	sample->words[0] = MADE_CODE + 8;
}

/* The code is unknown, and the callers were found by its rows. */
CASE_WITH(test_untold, setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	make_unfinished_of(run, false);
	made_round(run, 100);
	made_unwinder.untold = 2;
	made_round(run, HELD + 100);
	assert_int_equal(run->seen_count, 1);
	assert_int_equal(run->seen[0].user_frames, 2);
	assert_string_equal(run->seen[0].name, "method");
	made_unwinder.untold = 1;
	make_unfinished_of(run, false);
	make_unfinished_of(run, true);
	made_round(run, HELD + 200);
	assert_int_equal(run->seen_count, 3);
	assert_int_equal(run->seen[1].user_frames, 1);
	assert_int_equal(run->seen[1].kind, LOCATION_ANON);
	assert_int_equal(run->seen[1].offset, MADE_CODE + 8);
	assert_int_equal(run->seen[2].kind, LOCATION_ANON);
	assert_true(made_unwinder.told_seen);
	ledger = made_finish(run, HELD + 300);
	assert_int_equal(ledger->samples.fate[FATE_CODE_UNKNOWN], 3);
	assert_int_equal(ledger->samples.fate[FATE_RESOLVED], 0);
}

CASE_WITH(test_cut, setup, made_run_teardown)
{
	struct {
		struct jitbpf_sample sample;
		__u64 words[5];
		struct jitbpf_user_regs regs;
	} made = {.sample = {.h.size_bytes = sizeof(made),
			     .h.flags = JITBPF_SAMPLE_USER_REGS,
			     .kernel_words = 1,
			     .user_words = 4,
			     .user_end = JITBPF_END_ROOT},
		  .words = {1, 2, 3, 4, 5},
		  .regs.ip = 77};
	const struct jitbpf_user_regs *regs = (void *)&made.words[3];

	waiting_sample_cut(&made.sample, 4);
	assert_int_equal(made.sample.h.size_bytes, sizeof(made));
	assert_int_equal(made.sample.user_end, JITBPF_END_ROOT);
	assert_int_equal(made.regs.ip, 77);
	waiting_sample_cut(&made.sample, 2);
	assert_int_equal(made.sample.h.size_bytes, sizeof(made) - 16);
	assert_int_equal(made.sample.user_words, 2);
	assert_int_equal(made.sample.user_end, JITBPF_END_NO_RULE);
	assert_int_equal(regs->ip, 77);
	assert_int_equal(made.sample.h.flags, JITBPF_SAMPLE_USER_REGS | JITBPF_SAMPLE_CODE_UNTOLD);
}

CASE_WITH(test_end, setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	make_sample(run, 20, MADE_CODE + 8);
	made_round(run, 100);
	make_sample(run, 120, MADE_CODE + 8);
	ledger = made_finish(run, 200);
	assert_int_equal(ledger->samples.fate[FATE_RESOLVED], 2);
	assert_int_equal(made_unwinder.told_of, 2);
}

/* The run ends with an error, and samples that are held are released (which sanitizers check). */
CASE_WITH(test_dropped, setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_sample(run, 20, MADE_CODE + 8);
	made_round(run, 100);
	assert_int_equal(held_of(run), 1);
}

/* Code of other publishers ends before its memory has other code. */
CASE_WITH(test_others, setup, made_run_teardown)
{
	CLEANUP(made_run_end) struct made_run run;

	made_run_begin(&run, &made_unwinding);
	make_mapping(&run, 1, MADE_PID, MADE_CODE, "//anon");
	make_load(&run, 2, 0, "early");
	make_sample(&run, 20, MADE_CODE + 8);
	made_round(&run, 100);
	assert_int_equal(run.seen_count, 1);
}

CASE_WITH(test_budget, setup, made_run_teardown)
{
	struct made_run *run = *state;

	waiting_of(run)->budget.limit = 16 * sizeof(struct jitbpf_sample);
	for (uint64_t i = 0; i < 16; i++)
		make_sample(run, 20 + i, MADE_CODE + 8);
	made_round(run, 100);
	assert_in_range(held_of(run), 1, 12);
	assert_int_equal(held_of(run) + run->seen_count, 16);
	assert_int_equal(made_unwinder.told_of, run->seen_count);
	made_round(run, HELD + 100);
	assert_int_equal(run->seen_count, 16);
	assert_int_equal(waiting_of(run)->budget.used, 0);
}

/* Where much code ends all the time, each look-up would be expensive. */
CASE_WITH(test_much_ended_code, setup, made_run_teardown)
{
	struct made_run *run = *state;

	for (uint64_t i = 0; i <= CODE_ENDED_MAX; i++) {
		make_load(run, 11 + i, 0, "method")->event = JIT_EVENT_JVM_LOAD;
		if (i % 64 == 0 || i == CODE_ENDED_MAX)
			made_round(run, 11 + i);
	}
	make_sample(run, 20000, MADE_CODE + 8);
	made_round(run, 30000);
	assert_int_equal(run->seen_count, 1);
	assert_int_equal(made_unwinder.told_of, 0);
}
