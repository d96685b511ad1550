/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* JIT records in the pipeline: their times, and detection of lost records. */
#include <stdint.h>

#include "pipeline/analysis/analysis_state.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/made_run.h"

#define SECOND 1000000000ull

static struct jitbpf_jit *last_jit(struct made_run *run)
{
	return (struct jitbpf_jit *)run->records[run->record_count - 1];
}

/* A load has the shim's time, which is before the probe hit; an impossible time is replaced. */
CASE_WITH(test_time_of_a_load, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	make_load(run, 30 * SECOND, 0, "believed")->time_ns = 30 * SECOND - 500;
	make_sample(run, 30 * SECOND + 1, MADE_CODE);
	made_round(run, 31 * SECOND);
	/* A load older than the code in force at its address: the newer code stays. */
	make_load(run, 32 * SECOND, 1, "older")->time_ns = 29 * SECOND;
	make_sample(run, 32 * SECOND + 1, MADE_CODE);
	make_sample(run, 30 * SECOND - 501, MADE_CODE);
	make_sample(run, 30 * SECOND - 499, MADE_CODE);
	made_round(run, 33 * SECOND);
	make_load(run, 34 * SECOND, 2, "from the future")->time_ns = 60 * SECOND;
	make_sample(run, 34 * SECOND + 1, MADE_CODE);
	make_load(run, 35 * SECOND, 3, "from the past")->time_ns = 20 * SECOND;
	make_sample(run, 35 * SECOND + 1, MADE_CODE);
	ledger = made_finish(run, 36 * SECOND);
	assert_string_equal(run->seen[0].name, "believed");
	assert_string_equal(run->seen[1].name, "older");
	assert_string_equal(run->seen[2].name, "believed");
	assert_string_equal(run->seen[3].name, "believed");
	assert_string_equal(run->seen[4].name, "from the future");
	assert_string_equal(run->seen[5].name, "from the past");
	assert_int_equal(ledger->jit.time_corrected, 2);
	assert_int_equal(ledger->jit.methods, 4);
}

/* A load whose table was too large is one without it: the summary counts it. */
CASE_WITH(test_truncated, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_load(run, 30 * SECOND, 0, "whole");
	make_load(run, 31 * SECOND, 1, "truncated")->flags |= JITBPF_JIT_TRUNCATED;
	assert_int_equal(made_finish(run, 36 * SECOND)->jit.truncated, 1);
}

static uint64_t gaps_of(const uint64_t *sequences, size_t count)
{
	struct made_run *run = malloc(sizeof(*run));
	uint64_t gaps;

	made_require(run);
	made_run_begin(run, &(struct pipeline_options){0});
	for (size_t i = 0; i < count; i++)
		make_load(run, 10 + i, sequences[i], "x");
	gaps = made_finish(run, 100)->jit.sequence_gaps;
	made_run_end(run);
	free(run);
	return gaps;
}

CASE_WITH(test_sequence_gaps, made_run_setup, made_run_teardown)
{
#define GAPS(...)                                                                                  \
	gaps_of((const uint64_t[]){__VA_ARGS__}, ARRAY_SIZE(((const uint64_t[]){__VA_ARGS__})))
	assert_int_equal(GAPS(0, 1, 2), 0);
	assert_int_equal(GAPS(2, 0, 1), 0); /* threads may be reordered */
	assert_int_equal(GAPS(7), 0);	    /* the recording started late */
	assert_int_equal(GAPS(7, 9), 1);
	assert_int_equal(GAPS(0, 1000), 999);
	assert_int_equal(GAPS(3, 3, 3), 0); /* false, but no reason to count negative gaps */
	assert_int_equal(GAPS(0, UINT64_MAX - 1), UINT64_MAX - 2);
}

/* A program whose exec was seen starts at 0, with sequence numbers of its own. */
CASE_WITH(test_sequence_gaps_over_exec, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_load(run, 10, 5, "a");
	make_load(run, 11, 8, "b"); /* 6 and 7 are missing */
	make_comm(run, 20, MADE_PID, "next", true);
	make_load(run, 21, 2, "c"); /* 0 and 1 are missing */
	make_load(run, 22, 3, "d");
	make_comm(run, 30, MADE_PID, "third", true);
	make_load(run, 31, 0, "e");
	assert_int_equal(made_finish(run, 100)->jit.sequence_gaps, 4);
}

/* Two processes, and a child with sequence numbers of its own. */
CASE_WITH(test_sequence_gaps_by_process, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	make_load(run, 10, 0, "a");
	make_jit_of(run, 11, 200, 5, 0, "b");
	make_load(run, 12, 2, "c");
	make_jit_of(run, 13, 200, 5, 1, "d");
	make_task(run, JITBPF_FORK, 14, 300, MADE_PID);
	make_jit_of(run, 15, 300, 6, 0, "e");
	make_load(run, 16, 3, "f");
	ledger = made_finish(run, 100);
	assert_int_equal(ledger->jit.sequence_gaps, 1);
	assert_int_equal(ledger->jit.methods, 6);
	assert_int_equal(ledger->processes.data[0].jit.sequence_gaps, 1);
}

/* One of two parts: the record is incomplete and counts as lost. */
CASE_WITH(test_half_a_record, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	make_load(run, 10, 0, "a");
	make_load(run, 20, 1, "half")->part_count = 2;
	make_load(run, 30, 2, "c");
	ledger = made_finish(run, 100);
	assert_int_equal(ledger->jit.incomplete, 1);
	assert_int_equal(ledger->jit.sequence_gaps, 1);
	assert_int_equal(ledger->jit.methods, 2);
}

CASE_WITH(test_what_cannot_be, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	make_load(run, 10, 0, "no size")->code_bytes = 0;
	make_load(run, 11, 1, "wraps")->address = UINT64_MAX - 4;
	make_load(run, 12, 2, "of no kind")->event = 99;
	make_load(run, 13, 3, "of no version")->version = 99;
	make_load(run, 14, 4, "cut");
	last_jit(run)->data_bytes -= 1;
	make_load(run, 15, 5, "of another size")->size_bytes += 100;
	make_load(run, 16, 6, "good");
	make_sample(run, 20, MADE_CODE);
	ledger = made_finish(run, 100);
	assert_int_equal(ledger->jit.invalid, 2);
	assert_int_equal(ledger->jit.not_understood, 1);
	assert_int_equal(ledger->jit.malformed, 2);
	assert_int_equal(ledger->jit.other_version, 1);
	assert_int_equal(ledger->jit.methods, 1);
	assert_string_equal(run->seen[0].name, "good");
}

static struct jitbpf_jit_header *make_method_1(struct made_run *run, uint64_t time_ns,
					       uint64_t caller, uint64_t address, const char *name)
{
	struct jitbpf_jit_header *header = make_load(run, time_ns, time_ns, name);

	header->method_id = 1;
	header->caller = caller;
	header->address = address;
	return header;
}

/* An engine is the file of the call site, whatever the address in it. */
CASE_WITH(test_engines, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	make_mapping(run, 1, MADE_PID, 0x10000, "/a.so");
	make_mapping(run, 1, MADE_PID, 0x20000, "/b.so");
	make_method_1(run, 10, 0x10010, MADE_CODE, "of a");
	make_method_1(run, 11, 0x20010, MADE_CODE + 0x1000, "of b");
	make_method_1(run, 12, 0x10020, MADE_CODE + 0x2000, "of a, again");
	make_sample(run, 20, MADE_CODE + 0x1000);
	make_sample(run, 21, MADE_CODE + 0x2000);
	make_method_1(run, 30, 0x10030, 0, "")->event = JIT_EVENT_UNLOAD;
	make_sample(run, 40, MADE_CODE);
	make_sample(run, 41, MADE_CODE + 0x1000);
	make_sample(run, 42, MADE_CODE + 0x2000);
	/* An unknown file is another engine; an event without a caller may be of any engine. */
	make_mapping(run, 50, MADE_PID, 0x30000, "/c.so");
	make_method_1(run, 51, 0x30000, 0, "")->event = JIT_EVENT_UNLOAD;
	make_sample(run, 60, MADE_CODE + 0x1000);
	make_method_1(run, 61, 0x90000, 0, "")->event = JIT_EVENT_UNLOAD;
	make_sample(run, 70, MADE_CODE + 0x1000);
	ledger = made_finish(run, 100);
	assert_string_equal(run->seen[0].name, "of b");
	assert_string_equal(run->seen[1].name, "of a"); /* second region of one method */
	assert_string_equal(run->seen[2].name, "");
	assert_string_equal(run->seen[3].name, "of b");
	assert_string_equal(run->seen[4].name, "");
	assert_string_equal(run->seen[5].name, "of b");
	assert_string_equal(run->seen[6].name, "");
	assert_int_equal(ledger->jit.unloads, 2);
}

/* Over its budget, a process gets no more names; overwritten code still ends. */
CASE_WITH(test_budget, made_run_setup, made_run_teardown)
{
	struct code_budget budget = {.methods = 2, .name_bytes = 1000, .lines = 10};
	struct made_run *run = malloc(sizeof(*run));
	const struct ledger *ledger;

	made_require(run);
	made_run_begin(run, &(struct pipeline_options){.analysis.budget = &budget});
	make_load(run, 10, 0, "one");
	make_load(run, 11, 1, "two")->address += 0x1000;
	make_load(run, 12, 2, "three");
	make_sample(run, 20, MADE_CODE);
	make_sample(run, 21, MADE_CODE + 0x1000);
	ledger = made_finish(run, 100);
	assert_string_equal(run->seen[0].name, "");
	assert_string_equal(run->seen[1].name, "two");
	assert_int_equal(ledger->jit.over_budget, 1);
	assert_int_equal(ledger->samples.fate[FATE_CODE_UNKNOWN], 1);
	made_run_end(run);
	free(run);
}
