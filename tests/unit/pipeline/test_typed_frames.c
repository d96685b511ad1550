/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples with frames of several kinds: forged by a live source, and in recordings. */
#include <stdint.h>

#include "decode/recording/recording_reader.h"
#include "pipeline/record/replay_source.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/made_run.h"

#define RUNTIME(n) ((uint64_t)JITBPF_FRAME_RUNTIME << JITBPF_FRAME_KIND_SHIFT | (n))
#define GAP	   ((uint64_t)JITBPF_FRAME_GAP << JITBPF_FRAME_KIND_SHIFT)
#define UNKNOWN	   ((uint64_t)77 << JITBPF_FRAME_KIND_SHIFT)

static struct jitbpf_sample *make_stack(struct made_run *run, uint64_t time_ns,
					const uint64_t *words, uint16_t count)
{
	return make_sample_of(run, time_ns, MADE_PID, MADE_START, words, count);
}

/* Returns the location of the n-th frame of a sample from its root, from 0 on. */
static const struct location *from_root(const struct made_run *run, uint32_t depth)
{
	const struct view *view = pipeline_view(run->pipeline);
	const struct profile *profile = view->profile;

	for (uint32_t i = 0; i < profile->nodes.size; i++) {
		uint32_t up = 0, at = i;

		for (; profile->nodes.data[at].parent != PROFILE_NODE_NONE; up++)
			at = profile->nodes.data[at].parent;
		if (up == depth + 1)
			return &view->locations->locations.data[profile->nodes.data[i].location];
	}
	return NULL;
}

/*
 * A walk finds any value on a stack. One that looks like another kind of frame is none: the stack
 * ends before it.
 */
CASE_WITH(test_forged, made_run_setup, made_run_teardown)
{
	static const uint64_t stacks[][4] = {
		{MADE_CODE + 8, RUNTIME(1), 2, MADE_CODE + 16},
		{MADE_CODE + 8, MADE_CODE + 16, UNKNOWN, MADE_CODE + 16},
		{RUNTIME(1), MADE_CODE + 16, MADE_CODE + 16, MADE_CODE + 16},
	};
	static const uint32_t frames[] = {1, 2, 0};
	struct made_run *run = *state;
	const struct ledger *ledger;

	make_mapping(run, 1, MADE_PID, MADE_CODE, "//anon");
	for (uint32_t i = 0; i < 3; i++)
		make_stack(run, 10 + i, stacks[i], 4);
	ledger = made_finish(run, 100);
	assert_int_equal(ledger->malformed_records, 0);
	assert_int_equal(run->seen_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(run->seen[i].user_frames, frames[i]);
		assert_int_not_equal(run->seen[i].kind, LOCATION_RUNTIME);
	}
	assert_int_equal(ledger->samples.fate[FATE_CODE_UNKNOWN], 2);
	assert_int_equal(ledger->samples.fate[FATE_STACK_CUT], 1);
	assert_int_equal(ledger->samples.cut[JITBPF_END_BAD_FRAME], 1);
}

/*
 * In a recording, frames of a runtime are locations of their own. A function that no record
 * describes is unknown code.
 */
CASE_WITH(test_recorded, made_run_setup, made_run_teardown)
{
	static const uint64_t words[] = {RUNTIME(7), 33, MADE_CODE + 8, RUNTIME(9), 44};
	struct made_run *run = *state;
	const struct location *location;
	const struct ledger *ledger;
	struct jitbpf_runtime_function *function;

	run->source.finished = true;
	for (uint64_t number = 7; number <= 9; number += 2) {
		function = make_record(run, JITBPF_RUNTIME_FUNCTION, sizeof(*function) + 3, 1);
		function->number = number;
		function->pid = MADE_PID;
		function->name_bytes = 2;
		function->file_bytes = 1;
		strcpy(function->runtime, "PHP");
		strcpy(function->strings, "f");
	}
	make_mapping(run, 1, MADE_PID, MADE_CODE, "//anon");
	make_stack(run, 10, words, 5);
	make_stack(run, 11, words, 5)->h.flags = JITBPF_SAMPLE_CODE_UNTOLD;
	ledger = made_finish(run, 100);
	assert_int_equal(ledger->malformed_records, 0);
	assert_int_equal(ledger->samples.fate[FATE_CODE_UNKNOWN], 2);
	assert_int_equal(run->seen_count, 2);
	assert_int_equal(run->seen[0].user_frames, 3);
	assert_int_equal(run->seen[0].kind, LOCATION_RUNTIME);
	assert_int_equal(run->seen[0].offset, 33);
	location = from_root(run, 0);
	assert_int_equal(location->kind, LOCATION_RUNTIME);
	assert_int_equal(location->owner, 9);
	assert_int_equal(location->offset, 44);
	location = from_root(run, 1);
	assert_int_equal(location->kind, LOCATION_ANON);
	assert_int_equal(location->offset, MADE_CODE + 8);
}

/* Frames of a runtime follow a gap. The stack is cut, but its outermost frames are known. */
CASE_WITH(test_gap, made_run_setup, made_run_teardown)
{
	static const uint64_t words[] = {MADE_CODE + 8, GAP, RUNTIME(7), 33};
	struct made_run *run = *state;
	const struct ledger *ledger;

	run->source.finished = true;
	make_mapping(run, 1, MADE_PID, MADE_CODE, "/bin/p");
	make_stack(run, 10, words, 4)->user_end = JITBPF_END_NO_RULE;
	ledger = made_finish(run, 100);
	assert_int_equal(ledger->malformed_records, 0);
	assert_int_equal(run->seen_count, 1);
	assert_int_equal(run->seen[0].user_frames, 3);
	assert_int_equal(ledger->samples.cut[JITBPF_END_NO_RULE] +
				 ledger->samples.fate[FATE_CODE_UNKNOWN],
			 1);
	assert_int_equal(from_root(run, 0)->kind, LOCATION_RUNTIME_UNKNOWN);
	assert_int_equal(from_root(run, 1)->kind, LOCATION_GAP);
	assert_int_equal(from_root(run, 2)->kind, LOCATION_NATIVE);
	assert_null(from_root(run, 3));
}

/* Words that are no whole frames are refused, and counted. */
CASE_WITH(test_refused, made_run_setup, made_run_teardown)
{
	static const uint64_t cut[] = {MADE_CODE + 8, RUNTIME(7)};
	static const uint64_t unknown[] = {UNKNOWN, MADE_CODE + 8};
	static const uint64_t whole[] = {MADE_CODE + 8};
	struct made_run *run = *state;
	const struct ledger *ledger;

	run->source.finished = true;
	make_stack(run, 10, cut, 2);
	make_stack(run, 11, unknown, 2);
	make_stack(run, 12, whole, 1);
	ledger = made_finish(run, 100);
	assert_int_equal(ledger->malformed_records, 2);
	assert_int_equal(run->seen_count, 1);
	assert_int_equal(run->seen[0].time_ns, 12);
}

/* The recorder packs words of all kinds, and the reader returns them as they were. */
CASE_WITH(test_round_trip, made_run_setup, made_run_teardown)
{
	static const uint64_t stacks[][5] = {
		{RUNTIME(7), 33, MADE_CODE + 8, RUNTIME(9), 44},
		{RUNTIME(7), 34, MADE_CODE + 8, RUNTIME(9), 44},
		{MADE_CODE + 8, RUNTIME(9), UINT64_MAX, RUNTIME(9), 0},
	};
	const struct run_info info = {.event = "", .command = "", .host = "", .kernel = ""};
	struct made_run *run = *state;
	AUTO_FREE char *bytes = NULL;
	size_t size, read = 0;
	FILE *out = open_memstream(&bytes, &size);
	const struct jitbpf_record *record;
	struct recording_error error;
	struct recording_reader *reader;
	struct recorder *recorder;
	struct blob blob;

	assert_int_equal(recorder_create(out, &info, &recorder), 0);
	for (uint32_t i = 0; i < 30; i++)
		assert_int_equal(recorder_write(recorder, &make_stack(run, i, stacks[i % 3], 5)->h),
				 0);
	assert_int_equal(recorder_finish(recorder, pipeline_view(run->pipeline),
					 pipeline_modules(run->pipeline)),
			 0);
	recorder_destroy(recorder);
	fclose(out);
	blob = blob_of_memory(bytes, size);
	assert_int_equal(recording_reader_open(&blob, &reader, &error), 0);
	while (recording_reader_next(reader, &record, &error) == 1) {
		if (record->type != JITBPF_SAMPLE)
			continue;
		assert_int_equal(record->size_bytes, run->records[read]->size_bytes);
		assert_memory_equal(record, run->records[read], record->size_bytes);
		read++;
	}
	recording_reader_close(reader);
	assert_int_equal(read, 30);
}
