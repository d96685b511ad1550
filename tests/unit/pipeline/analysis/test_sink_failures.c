/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each kind of output beside others, in the same random run. Where memory runs
 * out at any one of its allocations, or its disk is full after any number of bytes,
 * it reports that, and the others are written as if nothing had happened. Linked
 * with --wrap, so that allocations can be made to fail.
 */
#include <stdint.h>

#include "tests/unit/cases.h"
#include "tests/unit/failing_memory.h"
#include "tests/unit/pipeline/random_run.h"

#define ROUNDS 3

static const struct sink_ops *const kinds[] = {
	&sink_firefox, &sink_folded,	 &sink_html,	&sink_pprof,
	&sink_script,  &sink_speedscope, &sink_summary, &sink_summary_json,
};

/* --- the sink under test: one of the kinds, with its allocations counted ----------- */

static const struct sink_ops *patient_kind;

static int patient_create(FILE *out, struct sink **ret)
{
	return patient_kind->create(out, ret);
}

static int patient_sample(struct sink *sink, const struct view *view,
			  const struct sink_sample *sample)
{
	int err;

	if (!patient_kind->sample)
		return 0;
	counting_allocations = true;
	err = patient_kind->sample(sink, view, sample);
	counting_allocations = false;
	return err;
}

static int patient_code(struct sink *sink, const struct view *view, const struct sink_code *code)
{
	int err;

	if (!patient_kind->code)
		return 0;
	counting_allocations = true;
	err = patient_kind->code(sink, view, code);
	counting_allocations = false;
	return err;
}

/* Not counted: a life for which there is no memory is no error, but forgotten. */
static int patient_region(struct sink *sink, const struct view *view,
			  const struct sink_region *change)
{
	return patient_kind->region ? patient_kind->region(sink, view, change) : 0;
}

static int patient_finish(struct sink *sink, const struct view *view)
{
	int err;

	counting_allocations = true;
	err = patient_kind->finish(sink, view);
	counting_allocations = false;
	return err;
}

static void patient_destroy(struct sink *sink)
{
	patient_kind->destroy(sink);
}

static const struct sink_ops patient = {
	.name = "patient",
	.extension = ".patient",
	.create = patient_create,
	.sample = patient_sample,
	.code = patient_code,
	.region = patient_region,
	.finish = patient_finish,
	.destroy = patient_destroy,
};

/* --- the run ------------------------------------------------------------------------ */

struct output {
	FILE *out;
	char *bytes;
	size_t size_bytes;
};

static struct made_run run;

/* Run it, write the patient to `disk` and a healthy output of each kind; the patient's result. */
static int run_all(FILE *disk, struct output healthy[ARRAY_SIZE(kinds)])
{
	struct random_run random;
	int err;

	made_run_begin_bare(&run, &(struct pipeline_options){0});
	made_require(!pipeline_set_info(run.pipeline, &(struct run_info){.start_ns = 1,
									 .freq_hz = 99,
									 .cpus = 2,
									 .event = "cpu-clock",
									 .command = "engine",
									 .host = "box",
									 .kernel = "6.18"}));
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (i == ARRAY_SIZE(kinds) / 2)
			made_require(!pipeline_add_sink(run.pipeline, &patient, disk));
		healthy[i].out = open_memstream(&healthy[i].bytes, &healthy[i].size_bytes);
		made_require(healthy[i].out &&
			     !pipeline_add_sink(run.pipeline, kinds[i], healthy[i].out));
	}
	random_begin(&run, &random, 7);
	for (int i = 0; i < ROUNDS; i++)
		random_round(&run, &random, 100);
	made_finish(&run, random.time_ns + 1);
	err = pipeline_write(run.pipeline, disk);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		assert_int_equal(pipeline_write(run.pipeline, healthy[i].out), 0);
		fclose(healthy[i].out);
	}
	made_run_end(&run);
	return err;
}

static void release(struct output healthy[ARRAY_SIZE(kinds)])
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		free(healthy[i].bytes);
}

/* Run it again: the patient's result, while all others have the same bytes as before. */
static int run_again(FILE *disk, const struct output before[ARRAY_SIZE(kinds)])
{
	struct output now[ARRAY_SIZE(kinds)];
	int err = run_all(disk, now);

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		assert_int_equal(now[i].size_bytes, before[i].size_bytes);
		assert_memory_equal(now[i].bytes, before[i].bytes, before[i].size_bytes);
	}
	release(now);
	return err;
}

/* What the healthy outputs are. */
static void run_first(struct output before[ARRAY_SIZE(kinds)])
{
	AUTO_FCLOSE FILE *disk = fopen("/dev/null", "w");

	patient_kind = &sink_summary;
	allocations_left = SIZE_MAX;
	assert_int_equal(run_all(disk, before), 0);
}

/* Each of the first allocations, then fewer and fewer of them. */
CASE(a_sink_without_memory_fails_alone)
{
	AUTO_FCLOSE FILE *disk = fopen("/dev/null", "w");
	struct output before[ARRAY_SIZE(kinds)];

	run_first(before);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		int failures = 0, err;

		patient_kind = kinds[i];
		for (size_t n = 0;; n += 1 + n / 20) {
			allocations_left = n;
			allocation_failed = false;
			err = run_again(disk, before);
			if (!allocation_failed)
				break;
			assert_int_equal(err, -ENOMEM);
			failures++;
		}
		assert_int_equal(err, 0);
		assert_true(failures > 0);
	}
	release(before);
}

/* A disk that takes only so much. */
struct disk {
	size_t left_bytes;
};

static ssize_t disk_write(void *disk_, const char *bytes, size_t size_bytes)
{
	struct disk *disk = disk_;
	size_t some = size_bytes < disk->left_bytes ? size_bytes : disk->left_bytes;

	disk->left_bytes -= some;
	if (!some && size_bytes)
		errno = ENOSPC;
	return (ssize_t)some;
}

CASE(a_sink_with_a_full_disk_fails_alone)
{
	static const cookie_io_functions_t functions = {.write = disk_write};
	struct output before[ARRAY_SIZE(kinds)];

	run_first(before);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t size = before[i].size_bytes, rooms[] = {0, size / 2, size - 1, size};

		patient_kind = kinds[i];
		for (size_t j = 0; j < ARRAY_SIZE(rooms); j++) {
			struct disk disk = {rooms[j]};
			FILE *out = fopencookie(&disk, "w", functions);
			int err;

			assert_non_null(out);
			err = run_again(out, before);
			if (rooms[j] == size)
				assert_int_equal(err, 0);
			else
				assert_true(err == -ENOSPC || err == -EIO);
			fclose(out);
		}
	}
	release(before);
}
