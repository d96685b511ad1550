/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks that the source could not complete: deferred, completed, and counted like any other. */
#include <stdint.h>

#include "pipeline/intake/intake_state.h"
#include "pipeline/pipeline_state.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/made_unwinder.h"

#define SECOND 1000000000ull
#define LIB    0x700000 /* address of a mapped file */

static uint64_t ready_until; /* stacks of samples before this time are complete */

static bool is_ready(uint64_t time_ns)
{
	return time_ns < ready_until;
}

static int setup(void **state)
{
	struct made_run *run = malloc(sizeof(*run));

	made_require(run);
	ready_until = UINT64_MAX;
	made_unwinder = (struct unwinder){.is_ready = is_ready};
	made_run_begin(run, &made_unwinding);
	make_mapping(run, 1, MADE_PID, LIB, "/lib/x.so");
	*state = run;
	return 0;
}

/* A sample with two callers. */
static struct jitbpf_sample *make_one(struct made_run *run, uint64_t time_ns, uint64_t leaf)
{
	const uint64_t callers[] = {LIB + 0x100, LIB + 0x200};

	return make_unfinished(run, time_ns, leaf, callers, ARRAY_SIZE(callers), 0);
}

/* The same with a kernel frame. */
static void make_unfinished_in_kernel(struct made_run *run, uint64_t time_ns, uint64_t leaf)
{
	struct jitbpf_sample *sample = make_one(run, time_ns, leaf);

	sample->h.size_bytes += sizeof(leaf);
	sample = realloc(sample, sample->h.size_bytes);
	made_require(sample);
	run->records[run->record_count - 1] = &sample->h;
	memmove(&sample->words[1], &sample->words[0],
		sample->h.size_bytes - sizeof(*sample) - sizeof(leaf));
	sample->words[0] = 0xffffffff81000000;
	sample->kernel_words = 1;
}

CASE_WITH(test_finished_comes_at_the_end_of_its_round, setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	made_unwinder.guesses = true;
	make_one(run, 10, LIB);
	make_sample(run, 20, LIB);
	made_round(run, 100);
	assert_int_equal(run->seen_count, 2);
	assert_int_equal(run->seen[0].time_ns, 20);
	assert_int_equal(made_unwinder.known_ns, 100);
	made_round(run, 200);
	assert_int_equal(run->seen_count, 2);
	assert_int_equal(run->seen[1].time_ns, 10);
	assert_int_equal(run->seen[1].user_frames, 3);
	assert_int_equal(made_unwinder.published, 2);
	ledger = made_finish(run, 300);
	assert_int_equal(ledger->samples.fate[FATE_RESOLVED], 2);
	assert_int_equal(ledger->samples.frame_pointers, 1);
	assert_int_equal(ledger->processes.data[0].samples.frame_pointers, 1);
	assert_int_equal(ledger->counters[JITBPF_COUNT_STACKS_FINISHED], 1);
	assert_int_equal(ledger->counters[JITBPF_COUNT_STACKS_LATE], 0);
}

/* Most samples are complete; a copy of each would cost more than all else that is done with it. */
CASE_WITH(test_what_waits_for_nothing_is_not_copied, setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct waiting_samples *waiting = &run->pipeline->intake->waiting;

	make_sample(run, 10, LIB)->mappings_age_ns = 5;
	made_round(run, 100);
	assert_int_equal(run->seen_count, 1);
	assert_int_equal(waiting->arrivals, 0);
	made_unwinder.doubts = true;
	made_unwinder.is_checked = is_ready;
	ready_until = 0;
	make_sample(run, 110, LIB);
	made_round(run, 200);
	assert_int_equal(run->seen_count, 1);
	assert_int_equal(waiting->arrivals, 1);
	ready_until = UINT64_MAX;
	made_round(run, 300);
	assert_int_equal(run->seen_count, 2);
}

/* A deferred sample is located by the code of its own time, however long it was deferred. */
CASE_WITH(test_what_stood_there_at_its_time, setup, made_run_teardown)
{
	struct made_run *run = *state;

	ready_until = 0;
	make_mapping(run, 2, MADE_PID, MADE_CODE, "//anon");
	make_load(run, 20, 0, "first");
	make_one(run, 30, MADE_CODE + 8);
	make_load(run, 40, 1, "second");
	made_round(run, 100);
	make_sample(run, 110, MADE_CODE + 8);
	make_one(run, 120, MADE_CODE + 8);
	made_round(run, 200);
	assert_true(pipeline_waits(run->pipeline));
	assert_int_equal(run->seen_count, 1);
	ready_until = UINT64_MAX;
	make_task(run, JITBPF_EXIT, 210, MADE_PID, 0);
	made_round(run, 300);
	made_round(run, 400);
	assert_int_equal(run->seen_count, 3);
	assert_int_equal(run->seen[1].time_ns, 30);
	assert_string_equal(run->seen[1].name, "first");
	assert_int_equal(run->seen[2].time_ns, 120);
	assert_string_equal(run->seen[2].name, "second");
	assert_int_equal(run->seen[2].user_frames, 3);
	assert_int_equal(made_unwinder.last, 0);
}

/* A process may execute another program while its sample is deferred. */
CASE_WITH(test_what_it_was_at_its_time, setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_comm(run, 5, MADE_PID, "sh", false);
	make_one(run, 10, LIB);
	make_comm(run, 20, MADE_PID, "env", true);
	/* During execve, the registers are those of the old program. */
	make_unfinished_in_kernel(run, 25, LIB + 8);
	make_comm(run, 40, MADE_PID, "python", true);
	make_mapping(run, 50, MADE_PID, 2 * LIB, "/bin/python");
	make_one(run, 60, 2 * LIB);
	made_round(run, 100);
	made_round(run, 200);
	assert_int_equal(run->seen_count, 3);
	assert_string_equal(run->seen[0].comm, "sh");
	assert_int_equal(run->seen[0].kind, LOCATION_NATIVE);
	assert_string_equal(run->seen[1].comm, "env");
	assert_int_equal(run->seen[1].kind, LOCATION_KERNEL);
	assert_int_equal(run->seen[1].user_frames, 0);
	assert_string_equal(run->seen[2].comm, "python");
	assert_int_equal(made_finish(run, 300)->samples.fate[FATE_CODE_UNKNOWN], 0);
}

/* A long round, as after a suspend. */
CASE_WITH(test_what_stood_there_in_a_long_round, setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_mapping(run, 2, MADE_PID, MADE_CODE, "//anon");
	made_round(run, 10);
	make_load(run, 20, 0, "first");
	make_one(run, 30, MADE_CODE + 8);
	make_load(run, 40, 1, "second");
	made_round(run, 5 * SECOND);
	made_round(run, 5 * SECOND + 1);
	assert_int_equal(run->seen_count, 1);
	assert_string_equal(run->seen[0].name, "first");
}

/* Rounds are short while a sample is deferred, and for a while after. */
CASE_WITH(test_rounds_come_soon, setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_sample(run, 2, LIB);
	made_round(run, 3);
	assert_false(pipeline_waits(run->pipeline));
	make_one(run, 10, LIB);
	made_round(run, 100);
	assert_true(pipeline_waits(run->pipeline));
	made_round(run, SECOND / 5);
	assert_true(pipeline_waits(run->pipeline));
	made_round(run, SECOND / 5 + 10);
	assert_false(pipeline_waits(run->pipeline));
	ready_until = 0;
	make_one(run, SECOND, LIB);
	made_round(run, SECOND + SECOND / 2);
	assert_true(pipeline_waits(run->pipeline));
}

/* The kernel's mappings were 50 ns old; frames found by a mapping that had changed are cut. */
CASE_WITH(test_mappings_that_had_changed, setup, made_run_teardown)
{
	const uint64_t words[] = {MADE_CODE + 8, LIB + 8, MADE_CODE + 0x100, LIB + 0x100};
	struct made_run *run = *state;

	make_mapping(run, 2, MADE_PID, MADE_CODE, "/lib/z.so")->inode = 11;
	for (uint64_t time_ns = 100; time_ns <= 300; time_ns += 100)
		make_sample_of(run, time_ns, MADE_PID, MADE_START, words, ARRAY_SIZE(words))
			->mappings_age_ns = 50;
	make_one(run, 201, LIB)->mappings_age_ns = 50;
	make_mapping(run, 180, MADE_PID, LIB, "/lib/y.so")->inode = 10;
	make_mapping(run, 280, MADE_PID, LIB, "/lib/y.so")->inode = 10; /* the protection changes */
	made_round(run, 400);
	made_round(run, 500);
	assert_int_equal(run->seen_count, 4);
	assert_int_equal(run->seen[0].user_frames, 4);
	assert_int_equal(run->seen[1].user_frames, 2);
	assert_int_equal(run->seen[2].user_frames, 4);
	/* walked from its copy, with the mappings of its time */
	assert_int_equal(run->seen[3].user_frames, 3);
	assert_int_equal(made_finish(run, 600)->samples.cut[JITBPF_END_NO_RULE], 1);
}

/* The output of intake on its way to the analysis. */
static struct record_consumer analysis;
static struct jitbpf_sample *emitted;

static int keep_sample(void *context, const struct jitbpf_record *record)
{
	if (record->type == JITBPF_SAMPLE) {
		made_require(!emitted);
		emitted = malloc(record->size_bytes);
		made_require(emitted);
		memcpy(emitted, record, record->size_bytes);
	}
	return analysis.take(context, record);
}

/* All other parts of the sample are unchanged. */
static uint64_t checked_until;

static bool is_checked(uint64_t time_ns)
{
	return time_ns < checked_until;
}

/* A sample in code that is in doubt waits, whether its stack is complete or not. */
CASE_WITH(test_waits_for_a_check, setup, made_run_teardown)
{
	struct made_run *run = *state;

	made_unwinder.doubts = true;
	made_unwinder.is_checked = is_checked;
	checked_until = 15;
	make_sample(run, 10, LIB);
	make_sample(run, 20, LIB + 0x10);
	make_one(run, 30, LIB);
	made_round(run, 100);
	assert_int_equal(run->seen_count, 1);
	assert_int_equal(run->seen[0].time_ns, 10);
	checked_until = UINT64_MAX;
	made_round(run, 200);
	assert_int_equal(run->seen_count, 3);
	assert_int_equal(run->seen[1].time_ns, 20);
	assert_int_equal(run->seen[2].time_ns, 30);
	assert_int_equal(run->seen[2].user_frames, 3);
	assert_int_equal(made_finish(run, 300)->jit.replaced_samples, 0);
}

/* Code that is not vouched for in time ends before its samples are located. */
CASE_WITH(test_not_checked, setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;
	const struct process *process;

	make_load(run, 2, 0, "a")->code_bytes = 0x40;
	make_sample(run, 5, MADE_CODE);
	made_round(run, 10);
	process = process_table_find(run->pipeline->intake->processes, MADE_PID, 0, 10);
	made_unwinder.doubts = true;
	made_unwinder.is_checked = is_checked;
	checked_until = 0;
	made_unwinder.verdicts[0] = (struct code_verdict){.process = process,
							  .address = MADE_CODE,
							  .size_bytes = 0x40,
							  .since_ns = 15,
							  .decided_ns = 25,
							  .unchecked = true};
	make_sample(run, 20, MADE_CODE);
	made_round(run, 30);
	assert_int_equal(run->seen_count, 1);
	made_unwinder.verdict_count = 1;
	ledger = made_finish(run, 40);
	assert_int_equal(run->seen_count, 2);
	assert_int_equal(ledger->samples.fate[FATE_RESOLVED], 1);
	assert_int_equal(ledger->samples.fate[FATE_CODE_UNKNOWN], 1);
	assert_int_equal(ledger->jit.replaced_samples, 1);
	assert_int_equal(ledger->jit.unchecked, 1);
	assert_int_equal(ledger->jit.replaced, 0);
}

/* A sample of unknown code whose region goes on: the next one has its name. */
CASE_WITH(test_goes_on, setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	make_load(run, 2, 0, "a")->code_bytes = 0x40;
	made_unwinder.doubts = made_unwinder.goes_on = true;
	made_unwinder.is_checked = is_checked;
	checked_until = 0;
	make_sample(run, 20, MADE_CODE);
	made_round(run, 30);
	assert_int_equal(run->seen_count, 0);
	made_round(run, 20 + INTAKE_DEFER_NS + 1);
	assert_int_equal(run->seen_count, 1);
	checked_until = UINT64_MAX;
	make_sample(run, 30 + INTAKE_DEFER_NS, MADE_CODE);
	ledger = made_finish(run, 40 + INTAKE_DEFER_NS);
	assert_int_equal(run->seen_count, 2);
	assert_int_equal(ledger->samples.fate[FATE_CODE_UNKNOWN], 1);
	assert_int_equal(ledger->samples.fate[FATE_RESOLVED], 1);
	assert_int_equal(ledger->jit.replaced_samples, 1);
	assert_int_equal(ledger->jit.replaced + ledger->jit.unchecked, 0);
}

CASE_WITH(test_registers_stay, setup, made_run_teardown)
{
	const uint64_t caller = LIB + 0x100;
	struct made_run *run = *state;
	const struct jitbpf_sample *sample;
	struct jitbpf_user_regs regs = {.ax = 7, .r15 = 8};
	struct jitbpf_sample *made = make_unfinished(
		run, 10, LIB, &caller, 1, JITBPF_SAMPLE_USER_REGS | JITBPF_SAMPLE_FRAME_POINTERS);

	memcpy(&made->words[1], &regs, sizeof(regs));
	made->cpu = 3;
	analysis = run->pipeline->intake->consumer;
	run->pipeline->intake->consumer.take = keep_sample;
	made_round(run, 100);
	sample = emitted;
	assert_non_null(sample);
	assert_int_equal(sample->h.flags, JITBPF_SAMPLE_USER_REGS | JITBPF_SAMPLE_FRAME_POINTERS);
	assert_int_equal(sample->h.size_bytes, sizeof(*sample) + 2 * 8 + sizeof(regs));
	assert_int_equal(sample->user_words, 2);
	assert_int_equal(sample->user_end, JITBPF_END_ROOT);
	assert_int_equal(sample->cpu, 3);
	assert_int_equal(sample->words[0], LIB);
	assert_int_equal(sample->words[1], caller);
	assert_memory_equal(&sample->words[2], &regs, sizeof(regs));
	free(emitted);
	emitted = NULL;
}

CASE_WITH(test_kernel_frames_stay, setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_unfinished_in_kernel(run, 10, LIB);
	made_round(run, 100);
	made_round(run, 200);
	assert_int_equal(run->seen_count, 1);
	assert_int_equal(run->seen[0].kernel_frames, 1);
	assert_int_equal(run->seen[0].user_frames, 3);
	assert_int_equal(run->seen[0].kind, LOCATION_KERNEL);
}

/* The time of deferral is limited, per round and in total. */
CASE_WITH(test_given_up_after_a_second, setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	ready_until = 0;
	make_one(run, 10, LIB);
	make_one(run, SECOND / 2, LIB);
	made_round(run, SECOND);
	assert_int_equal(made_unwinder.waited_ns, 1000000); /* no rows came: no further waiting */
	made_unwinder.came = 1;
	made_round(run, SECOND + 10);
	assert_int_equal(made_unwinder.waited_ns, 11000000);
	assert_int_equal(made_unwinder.last, 0);
	made_round(run, SECOND + 11);
	assert_int_equal(made_unwinder.last, 1);
	assert_true(pipeline_waits(run->pipeline));
	made_round(run, 2 * SECOND);
	assert_int_equal(made_unwinder.last, 2);
	assert_false(pipeline_waits(run->pipeline));
	ledger = made_finish(run, 3 * SECOND);
	assert_int_equal(ledger->counters[JITBPF_COUNT_STACKS_LATE], 2);
	assert_int_equal(ledger->counters[JITBPF_COUNT_WAITS_ROWS], 2);
	assert_in_range(ledger->counters[JITBPF_COUNT_WAITS_ROWS_MS], 2000, 2600);
	assert_int_equal(ledger->samples.cut[JITBPF_END_NO_RULE], 2);
	assert_int_equal(ledger_taken(ledger), 2);
}

static const struct sink_ops deaf_sink = {.destroy = made_sink_destroy};

/* Over the memory limit, the oldest samples that wait are completed with what is known. */
CASE_WITH(test_budget, setup, made_run_teardown)
{
	static const uint64_t callers[JITBPF_UNBOUNDED_COPY_MAX / 8];
	struct made_run *run = *state;
	const struct ledger *ledger;
	uint64_t time_ns = 10, count = 0;

	ready_until = 0;
	for (int round = 0; round < 8; round++) {
		for (int i = 0; i < 210; i++, count++)
			make_unfinished(run, time_ns++, LIB, callers, ARRAY_SIZE(callers), 0);
		made_round(run, time_ns++);
		assert_true(run->pipeline->intake->waiting.budget.used <= WAITING_BYTES_MAX);
	}
	assert_true(made_unwinder.last > 150 && made_unwinder.last < 250);
	for (size_t i = 0; i < run->seen_count; i++)
		assert_int_equal(run->seen[i].time_ns, 10 + i);
	run->seen_count = 0; /* the rest are more than it keeps */
	vec_for_each (sink, &run->pipeline->analysis->epoch->sinks.sinks)
		sink->ops = &deaf_sink;
	ledger = made_finish(run, time_ns);
	assert_int_equal(ledger_taken(ledger), count);
	assert_int_equal(ledger->counters[JITBPF_COUNT_STACKS_LATE], made_unwinder.last);
}

static void make_user(struct made_run *run, uint32_t pid, uint32_t uid)
{
	struct jitbpf_owner *owner = make_record(run, JITBPF_OWNER, sizeof(*owner), 3);

	owner->pid = pid;
	owner->charged_uid = uid;
}

/* A user who fills the memory loses their own waiting samples, not the older ones of another. */
CASE_WITH(test_budget_of_another_user, setup, made_run_teardown)
{
	static const uint64_t callers[JITBPF_UNBOUNDED_COPY_MAX / 8];
	struct made_run *run = *state;
	uint64_t time_ns = 10;

	ready_until = 0;
	make_user(run, MADE_PID, 1000);
	make_user(run, MADE_PID + 1, 1001);
	for (int i = 0; i < 50; i++)
		make_unfinished(run, time_ns++, LIB, callers, ARRAY_SIZE(callers), 0);
	made_round(run, time_ns++);
	for (int round = 0; round < 8; round++) {
		for (int i = 0; i < 210; i++)
			make_unfinished(run, time_ns++, LIB, callers, ARRAY_SIZE(callers), 0)->pid =
				MADE_PID + 1;
		made_round(run, time_ns++);
		assert_true(run->pipeline->intake->waiting.budget.used <= WAITING_BYTES_MAX);
	}
	assert_true(run->seen_count > 150);
	for (size_t i = 0; i < run->seen_count; i++)
		assert_true(run->seen[i].time_ns > 60);
}

/* At the end, deferred samples are completed, and so are samples later than the last drain. */
CASE_WITH(test_end, setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	ready_until = 20;
	make_one(run, 10, LIB);
	make_one(run, 30, LIB);
	make_sample(run, 110, LIB);
	make_one(run, 120, LIB);
	make_sample(run, 130, LIB);
	ledger = made_finish(run, 100);
	assert_int_equal(run->seen_count, 5);
	for (size_t i = 1; i < run->seen_count; i++)
		assert_true(run->seen[i - 1].time_ns < run->seen[i].time_ns);
	assert_int_equal(run->seen[0].user_frames, 3);
	assert_int_equal(made_unwinder.waited_ns, 2 * SECOND);
	assert_int_equal(ledger->counters[JITBPF_COUNT_STACKS_LATE], 2);
	assert_int_equal(ledger->samples.fate[FATE_RESOLVED], 3);
	assert_int_equal(ledger->samples.cut[JITBPF_END_NO_RULE], 2);
}

/* The same if the source fails. */
CASE_WITH(test_source_fails, setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_one(run, 10, LIB);
	assert_int_equal(made_drained(run, -EIO, 100), -EIO);
	assert_int_equal(run->seen_count, 1);
}

/* The stack of an unknown process is unchanged. */
CASE_WITH(test_process_not_known, setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	make_one(run, 10, LIB)->pid = 5;
	made_round(run, 100);
	ledger = made_finish(run, 200);
	assert_int_equal(run->seen_count, 1);
	assert_int_equal(run->seen[0].user_frames, 1);
	assert_int_equal(ledger->samples.fate[FATE_CODE_UNKNOWN], 1);
}

CASE_WITH(test_errors, setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_one(run, 10, LIB);
	made_unwinder.came = -EIO;
	assert_int_equal(made_drained(run, SOURCE_ROUND, 100), -EIO);
	made_unwinder.came = 0;
	made_unwinder.error = -ENOMEM;
	assert_int_equal(made_drained(run, SOURCE_ROUND, 200), -ENOMEM);
	assert_true(pipeline_waits(run->pipeline)); /* and is released nevertheless */
}

/* A recording with such a sample is invalid. */
CASE_WITH(test_nobody_to_finish_it, setup, made_run_teardown)
{
	CLEANUP(made_run_end) struct made_run run;
	const struct ledger *ledger;

	made_run_begin(&run, &(struct pipeline_options){0});
	make_mapping(&run, 1, MADE_PID, LIB, "/lib/x.so");
	make_one(&run, 10, LIB);
	made_round(&run, 100);
	assert_int_equal(run.seen_count, 1);
	ledger = made_finish(&run, 200);
	assert_int_equal(ledger->samples.cut[JITBPF_END_NO_RULE], 1);
	assert_int_equal(ledger->malformed_records, 0);
}
