/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random runs, recorded once as a whole and once in parts: the parts, each replayed alone, have
 * the same samples between them, at the same places, under the same names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/record/recording_reader.h"
#include "pipeline/pipeline_state.h"
#include "pipeline/record/replay_source.h"
#include "tests/unit/pipeline/random_run.h"

#define ROUNDS	10
#define RECORDS 20 /* of a round, at most */
#define SEEDS	200
#define PARTS	4 /* at most */

static const struct run_info info = {
	.start_ns = 500,
	.wall_clock_ns = 1000000,
	.freq_hz = 99,
	.cpus = 2,
	.event = "cpu-clock",
	.command = "a command",
	.host = "box",
	.kernel = "6.18",
};

/* A recording in memory. */
struct part {
	char *bytes;
	size_t size;
	FILE *file;
	struct recorder *recorder;
};

struct parts {
	struct part all[PARTS];
	size_t count;
};

static struct recorder *begin_part(struct parts *parts, const struct run_info *about)
{
	struct part *part = &parts->all[parts->count++];

	part->file = open_memstream(&part->bytes, &part->size);
	made_require(part->file && !recorder_create(part->file, about, &part->recorder));
	return part->recorder;
}

static void end_part(struct parts *parts, size_t number, struct pipeline *pipeline,
		     const struct view *view)
{
	struct part *part = &parts->all[number];

	assert_int_equal(recorder_finish(part->recorder, view, pipeline_modules(pipeline)), 0);
	recorder_destroy(part->recorder);
	fclose(part->file);
}

static void rotate(struct made_run *run, struct parts *parts)
{
	struct recorder *before = parts->all[parts->count - 1].recorder;
	struct run_info next = *pipeline_view(run->pipeline)->info;

	next.start_ns += next.duration_ns;
	next.duration_ns = 0;
	assert_int_equal(pipeline_rotate(run->pipeline, before, begin_part(parts, &next), &next),
			 0);
}

/* made_round() with the recorder of the last part. */
static int recorded_round(struct made_run *run, struct parts *parts, int state, uint64_t time_ns)
{
	run->state = state;
	run->round_ns = time_ns;
	return pipeline_round(run->pipeline, &run->source, parts->all[parts->count - 1].recorder);
}

static void record(uint64_t seed, struct parts *parts)
{
	struct pipeline_epoch epoch;
	struct random_run random;
	struct made_run run;
	size_t complete = 0;

	made_run_begin(&run, &(struct pipeline_options){0});
	assert_int_equal(pipeline_set_info(run.pipeline, &info), 0);
	begin_part(parts, &info);
	random_first_records(&run, &random, seed);
	assert_int_equal(recorded_round(&run, parts, SOURCE_ROUND, ++random.time_ns), SOURCE_ROUND);
	for (int i = 0; i < ROUNDS; i++) {
		random_records(&run, &random, RECORDS);
		assert_int_equal(recorded_round(&run, parts, SOURCE_ROUND, ++random.time_ns),
				 SOURCE_ROUND);
		if (random_below(&random, 3) == 0 && parts->count < PARTS)
			rotate(&run, parts);
	}
	assert_int_equal(recorded_round(&run, parts, SOURCE_END, ++random.time_ns), SOURCE_END);
	assert_int_equal(pipeline_recorder_error(run.pipeline), 0);
	assert_int_equal(pipeline_finish(run.pipeline), 0);
	while (pipeline_complete_epoch(run.pipeline, true, &epoch) > 0) {
		assert_ptr_equal(epoch.recorder, parts->all[complete].recorder);
		assert_int_equal(epoch.recorder_error, 0);
		end_part(parts, complete++, run.pipeline, epoch.view);
		pipeline_drop_epoch(run.pipeline);
	}
	assert_int_equal(complete + 1, parts->count);
	end_part(parts, complete, run.pipeline, pipeline_view(run.pipeline));
	made_run_end(&run);
}

/* Replay a part; what is seen is added to run->seen. */
static void replay(const struct part *part, struct made_run *run)
{
	struct blob blob = blob_of_memory(part->bytes, part->size);
	struct recording_reader *reader;
	struct recording_error error;
	struct replay_source replayed;
	struct pipeline *pipeline;
	struct source source;
	int state;

	assert_int_equal(pipeline_create(&(struct pipeline_options){0}, &pipeline), 0);
	assert_int_equal(pipeline_add_sink(pipeline, &made_sink, (FILE *)run), 0);
	assert_int_equal(recording_reader_open(&blob, &reader, &error), 0);
	replay_source_init(&replayed, reader, &source);
	while ((state = pipeline_round(pipeline, &source, NULL)) > 0)
		;
	assert_int_equal(state, SOURCE_END);
	assert_int_equal(pipeline_finish(pipeline), 0);
	assert_int_equal(pipeline_view(pipeline)->ledger->malformed_records, 0);
	recording_reader_close(reader);
	pipeline_destroy(pipeline);
}

static void assert_same(const struct made_seen *whole, const struct made_seen *part)
{
	assert_int_equal(whole->time_ns, part->time_ns);
	assert_int_equal(whole->pid, part->pid);
	assert_int_equal(whole->kind, part->kind);
	assert_int_equal(whole->offset, part->offset);
	assert_string_equal(whole->name, part->name);
	assert_string_equal(whole->comm, part->comm);
	assert_int_equal(whole->kernel_frames, part->kernel_frames);
	assert_int_equal(whole->user_frames, part->user_frames);
}

static void test_parts_are_the_whole(void **state)
{
	uint64_t rotations = 0, samples = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct made_run whole, parted = {0};
		struct parts parts = {0};
		struct random_run random;

		made_run_begin(&whole, &(struct pipeline_options){0});
		random_begin(&whole, &random, seed);
		for (int i = 0; i < ROUNDS; i++) {
			random_round(&whole, &random, RECORDS);
			random_below(&random, 3); /* as record() draws */
		}
		record(seed, &parts);
		for (size_t i = 0; i < parts.count; i++) {
			replay(&parts.all[i], &parted);
			free(parts.all[i].bytes);
		}
		assert_int_equal(parted.seen_count, whole.seen_count);
		for (size_t i = 0; i < whole.seen_count; i++)
			assert_same(&whole.seen[i], &parted.seen[i]);
		rotations += parts.count - 1;
		samples += whole.seen_count;
		made_run_end(&whole);
	}
	assert_true(rotations > SEEDS && samples > 50 * SEEDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts_are_the_whole)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
