/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A live run with a recorder, and a replay, in which memory runs out at any one of their
 * allocations: they report it and can be destroyed, or they have the same samples and the same
 * recording as with memory. Linked with --wrap, so that allocations can be made to fail.
 */
#include <stdint.h>

#include "tests/unit/cases.h"
#include "tests/unit/failing_memory.h"
#include "tests/unit/pipeline/random_run.h"

#include "pipeline/record/replay_source.h"

#define ROUNDS 8

static const struct run_info info = {.start_ns = 1,
				     .freq_hz = 99,
				     .cpus = 2,
				     .event = "cpu-clock",
				     .command = "engine",
				     .host = "box",
				     .kernel = "6.18"};

/* What a run leaves: a recording, and its folded stacks. */
struct result {
	char *recording, *folded;
	size_t recording_bytes, folded_bytes;
	int err;
};

/* As in struct analysis_options; 0: no limit. */
static uint64_t profile_bytes;

static void result_deinit(struct result *result)
{
	free(result->recording);
	free(result->folded);
}

static bool equal(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
	return a_bytes == b_bytes && !memcmp(a, b, a_bytes);
}

static int create(struct pipeline **ret)
{
	const struct pipeline_options options = {.analysis = {.profile_bytes = profile_bytes}};

	return pipeline_create(&options, ret);
}

/* Write the folded stacks; memory does not run out here. */
static int write_folded(struct pipeline *pipeline, FILE *out)
{
	counting_allocations = false;
	return pipeline_write(pipeline, out);
}

/* Run all rounds, and finish the recording. */
static int record(struct made_run *run, struct random_run *random, struct recorder *recorder)
{
	int state = 0, err;

	for (int i = 0; i <= ROUNDS && state >= 0; i++) {
		counting_allocations = false;
		if (i)
			random_records(run, random, 100);
		else
			random_first_records(run, random, 7);
		run->state = i == ROUNDS ? SOURCE_END : SOURCE_ROUND;
		run->round_ns = ++random->time_ns;
		counting_allocations = true;
		state = pipeline_round(run->pipeline, &run->source, recorder);
	}
	err = state < 0 ? state : pipeline_finish(run->pipeline);
	err = err ?: pipeline_recorder_error(run->pipeline);
	return err ?: recorder_finish(recorder, pipeline_view(run->pipeline), NULL);
}

/* A run in which allocation number `fails` fails. */
static void run_live(size_t fails, struct result *ret)
{
	struct made_run run = {.source = {.drain = made_drain, .context = &run}};
	FILE *folded = open_memstream(&ret->folded, &ret->folded_bytes);
	FILE *recording = open_memstream(&ret->recording, &ret->recording_bytes);
	struct recorder *recorder = NULL;
	struct random_run random;

	assert_true(folded && recording);
	allocations_left = fails;
	allocation_failed = false;
	counting_allocations = true;
	ret->err = create(&run.pipeline);
	if (!ret->err) {
		ret->err = pipeline_set_info(run.pipeline, &info);
		ret->err = ret->err ?: pipeline_add_sink(run.pipeline, &sink_folded, folded);
		ret->err = ret->err ?: recorder_create(recording, &info, &recorder);
		ret->err = ret->err ?: record(&run, &random, recorder);
		ret->err = ret->err ?: write_folded(run.pipeline, folded);
		counting_allocations = false;
		recorder_destroy(recorder);
		made_run_end(&run);
	}
	counting_allocations = false;
	fclose(folded);
	fclose(recording);
}

static int replay_rounds(struct pipeline *pipeline, struct recording_reader *reader)
{
	struct replay_source replayed;
	struct source source;
	int state;

	replay_source_init(&replayed, reader, &source);
	do
		state = pipeline_round(pipeline, &source, NULL);
	while (state > 0);
	return state ?: pipeline_finish(pipeline);
}

/* The recording of another run. */
static struct result recorded;

/* A replay in which allocation number `fails` fails. */
static void run_replay(size_t fails, struct result *ret)
{
	const struct blob blob = blob_of_memory(recorded.recording, recorded.recording_bytes);
	FILE *folded = open_memstream(&ret->folded, &ret->folded_bytes);
	struct recording_reader *reader = NULL;
	struct pipeline *pipeline = NULL;
	struct recording_error error;

	assert_non_null(folded);
	allocations_left = fails;
	allocation_failed = false;
	counting_allocations = true;
	ret->err = create(&pipeline);
	ret->err = ret->err ?: pipeline_add_sink(pipeline, &sink_folded, folded);
	ret->err = ret->err ?: recording_reader_open(&blob, &reader, &error);
	ret->err = ret->err ?: replay_rounds(pipeline, reader);
	ret->err = ret->err ?: write_folded(pipeline, folded);
	counting_allocations = false;
	if (reader)
		recording_reader_close(reader);
	pipeline_destroy(pipeline);
	fclose(folded);
}

static void fail_at_each(void (*run)(size_t fails, struct result *ret))
{
	CLEANUP(result_deinit) struct result whole = {0};
	int reported = 0;

	run(SIZE_MAX, &whole);
	assert_int_equal(whole.err, 0);
	assert_true(whole.folded_bytes > 1000);
	for (size_t n = 0;; n++) {
		CLEANUP(result_deinit) struct result result = {0};

		run(n, &result);
		if (!allocation_failed)
			break;
		if (result.err) {
			assert_int_equal(result.err, -ENOMEM);
			reported++;
			continue;
		}
		assert_true(equal(result.folded, result.folded_bytes, whole.folded,
				  whole.folded_bytes));
		assert_true(equal(result.recording, result.recording_bytes, whole.recording,
				  whole.recording_bytes));
	}
	assert_true(reported > 100);
}

CASE(a_live_run_reports_that_memory_is_short)
{
	fail_at_each(run_live);
}

/* Call paths are left out. */
CASE(a_run_over_its_limit_reports_that_memory_is_short)
{
	profile_bytes = 72 << 10;
	fail_at_each(run_live);
	profile_bytes = 0;
}

CASE(a_replay_reports_that_memory_is_short)
{
	run_live(SIZE_MAX, &recorded);
	assert_int_equal(recorded.err, 0);
	fail_at_each(run_replay);
	result_deinit(&recorded);
}
