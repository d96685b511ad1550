/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/outputs/rotation.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/clock.h"
#include "base/path.h"
#include "base/scope.h"
#include "profile/ledger.h"
#include "run/messages/say.h"

#define SECOND_NS	  1000000000ull
#define GIVE_BACK_STEP_NS (10 * SECOND_NS)
#define RETRY_S		  10 /* after a file that could not be created, or has failed */

static struct rotation_file *current(const struct rotation *rotation)
{
	return &rotation->files.data[rotation->files.size - 1];
}

/* tentative: see struct outputs. */
static int add_file(struct rotation *rotation, bool tentative)
{
	struct rotation_file file = {
		.outputs = {.opener = rotation->opener, .tentative = tentative}};
	const char *path = rotation->path;
	int err = vec_reserve(&rotation->files, rotation->files.size + 1);

	err = err ?: outputs_add(&file.outputs, path, NULL);
	if (err)
		return err;
	if (asprintf(&file.path, "%.*s%s", (int)(path_file(path) - path), path,
		     outputs_name_in_series(&file.outputs)) < 0) {
		outputs_close(&file.outputs);
		return -ENOMEM;
	}
	file.outputs.files.data[0].path = file.path;
	return vec_push(&rotation->files, file);
}

int rotation_init(struct rotation *rotation, const struct rotation_options *options,
		  const char *path, struct output_opener *opener)
{
	*rotation = (struct rotation){.options = options, .path = path, .opener = opener};
	return add_file(rotation, false);
}

struct outputs *rotation_outputs(struct rotation *rotation)
{
	return &current(rotation)->outputs;
}

struct recorder *rotation_recorder(const struct rotation *rotation)
{
	return rotation->files.size ? current(rotation)->recorder : NULL;
}

int rotation_begin(struct rotation *rotation, const struct run_info *info)
{
	struct rotation_file *file = current(rotation);

	rotation->due_ns = clock_now_ns() + rotation->options->period_ns;
	return recorder_create(outputs_recording(&file->outputs), info, &file->recorder);
}

/* --- the end of a file -------------------------------------------------------- */

static void close_file(struct rotation_file *file)
{
	recorder_destroy(TAKE_PTR(file->recorder));
	outputs_close(&file->outputs);
	free(TAKE_PTR(file->path));
}

static void count_file(struct rotation *rotation, const struct rotation_file *file,
		       const struct view *view)
{
	struct rotation_totals *totals = &rotation->totals;

	totals->files++;
	totals->samples += ledger_taken(view->ledger);
	totals->resolved += view->ledger->samples.fate[FATE_RESOLVED];
	totals->bytes += recorder_bytes(file->recorder);
}

/* Returns true if complete files may be deleted later. */
static bool deletes(const struct rotation *rotation)
{
	return rotation->options->keep || rotation->options->all_bytes;
}

static bool drop_oldest(struct rotation *rotation)
{
	if (!rotation->kept.size)
		return false;
	output_opener_delete(rotation->opener, rotation->kept.data[0].number);
	rotation->kept.size--;
	memmove(rotation->kept.data, rotation->kept.data + 1,
		rotation->kept.size * sizeof(*rotation->kept.data));
	return true;
}

uint64_t rotation_bytes(const struct rotation *rotation)
{
	uint64_t bytes = 0;

	vec_for_each (file, &rotation->kept)
		bytes += file->bytes;
	vec_for_each (file, &rotation->files)
		bytes += recorder_bytes(file->recorder);
	return bytes;
}

/* Add a complete file, and delete the oldest ones, so that --keep files remain with open ones. */
static int keep_file(struct rotation *rotation, struct kept_file file)
{
	uint32_t keep = rotation->options->keep;
	int err = vec_push(&rotation->kept, file);

	while (!err && keep && rotation->kept.size + rotation->files.size > keep)
		if (!drop_oldest(rotation))
			break;
	return err;
}

/* Complete the oldest file. error: an earlier error of its recorder, or 0. */
static int finish_file(struct rotation *rotation, const struct view *view,
		       const struct module_table *modules, int error)
{
	struct rotation_file *file = &rotation->files.data[0];
	int err = error ?: recorder_finish(file->recorder, view, modules), close_err;
	struct kept_file kept = {.bytes = recorder_bytes(file->recorder)};
	bool keep = deletes(rotation);

	if (err)
		outputs_fail_recording(&file->outputs, err);
	count_file(rotation, file, view);
	recorder_destroy(TAKE_PTR(file->recorder));
	close_err = keep ? outputs_close_retained(&file->outputs, &kept.number)
			 : outputs_close(&file->outputs);
	free(file->path);
	rotation->files.size--;
	memmove(rotation->files.data, rotation->files.data + 1,
		rotation->files.size * sizeof(*rotation->files.data));
	err = err ?: close_err;
	rotation->error = rotation->error ?: err;
	return (keep ? keep_file(rotation, kept) : 0) ?: err;
}

/*
 * Return free memory to the system. An epoch leaves a third of the heap free, in small pieces; it
 * takes some milliseconds, so not after every file if they are short.
 */
static void give_back(struct rotation *rotation)
{
	uint64_t now_ns = clock_now_ns();

	if (now_ns < rotation->give_back_ns)
		return;
	rotation->give_back_ns = now_ns + GIVE_BACK_STEP_NS;
	malloc_trim(0);
}

/* Returns 1 if a file was completed, 0 if there is none, or a negative errno. */
static int complete_file(struct rotation *rotation, struct pipeline *pipeline, bool now,
			 int *ret_file_error)
{
	struct pipeline_epoch epoch;
	int more = pipeline_complete_epoch(pipeline, now, &epoch);

	if (more <= 0)
		return more;
	*ret_file_error =
		finish_file(rotation, epoch.view, pipeline_modules(pipeline), epoch.recorder_error);
	pipeline_drop_epoch(pipeline);
	give_back(rotation);
	return 1;
}

static int complete_files(struct rotation *rotation, struct pipeline *pipeline, bool now)
{
	int first = 0, more, err;

	while ((more = complete_file(rotation, pipeline, now, &err)) > 0)
		first = first ?: err;
	return more < 0 ? more : first;
}

/* Files whose last samples and names may still come are completed only if there is no other. */
bool rotation_drop_oldest(struct rotation *rotation, struct pipeline *pipeline)
{
	int err;

	if (!deletes(rotation))
		return false;
	if (!rotation->kept.size)
		complete_file(rotation, pipeline, true, &err);
	return drop_oldest(rotation);
}

/* --- rotation ------------------------------------------------------------------ */

/* With much live code, a snapshot alone can reach the size. */
static bool is_full(const struct rotation *rotation, uint64_t size_bytes)
{
	uint64_t bytes = recorder_bytes(rotation_recorder(rotation));

	return size_bytes && bytes >= size_bytes &&
	       bytes - current(rotation)->snapshot_bytes >= size_bytes / 2;
}

/* A file that has failed is replaced, since it gets no more samples. */
static bool is_due(const struct rotation *rotation, const struct pipeline *pipeline,
		   uint64_t now_ns)
{
	const struct rotation_options *options = rotation->options;

	if (now_ns < rotation->retry_ns)
		return false;
	if (rotation->fails || pipeline_recorder_error(pipeline))
		return true;
	/* With --max-size, several complete files shall be left when the oldest one is deleted. */
	if (is_full(rotation, options->size_bytes) || is_full(rotation, options->all_bytes / 4))
		return true;
	return options->period_ns && now_ns >= rotation->due_ns;
}

static void drop_current(struct rotation *rotation)
{
	close_file(current(rotation));
	rotation->files.size--;
}

/* Create the next file, with its name. */
static int begin_file(struct rotation *rotation, const struct run_info *info)
{
	struct rotation_file *file;
	int err = add_file(rotation, true);

	if (err)
		return err;
	file = current(rotation);
	err = recorder_create(outputs_recording(&file->outputs), info, &file->recorder);
	err = err ?: outputs_begin_recording(&file->outputs);
	if (err)
		drop_current(rotation);
	return err;
}

/* Report once that the next file could not be created, until a file is created again. */
static void say_failure(struct rotation *rotation, int err, bool has_failed)
{
	if (!rotation->fails)
		say("jitbpf: the next recording of %s cannot be created: %s; %s, and the next "
		    "one is tried again every %d s\n",
		    rotation->path, strerror(-err),
		    has_failed ? "samples are lost meanwhile" : "the current one continues",
		    RETRY_S);
	rotation->fails = true;
}

static int rotate(struct rotation *rotation, struct pipeline *pipeline)
{
	struct recorder *before = rotation_recorder(rotation);
	uint64_t began_ns = clock_now_ns(), took_ns, bytes;
	struct run_info info = *pipeline_view(pipeline)->info;
	bool has_failed = pipeline_recorder_error(pipeline);
	struct rotation_file *file;
	int err;

	info.wall_clock_ns += info.duration_ns;
	info.start_ns += info.duration_ns;
	info.duration_ns = 0;
	err = begin_file(rotation, &info);
	if (err == -ENOMEM)
		return err;
	rotation->retry_ns = err || has_failed ? began_ns + RETRY_S * SECOND_NS : 0;
	if (err) {
		say_failure(rotation, err, has_failed);
		return 0;
	}
	rotation->fails = false;
	file = current(rotation);
	err = pipeline_rotate(pipeline, before, file->recorder, &info);
	if (err) {
		drop_current(rotation);
		return err;
	}
	took_ns = clock_now_ns() - began_ns;
	bytes = file->snapshot_bytes = recorder_bytes(file->recorder);
	if (took_ns > rotation->totals.pause_max_ns)
		rotation->totals.pause_max_ns = took_ns;
	if (bytes > rotation->totals.snapshot_max_bytes)
		rotation->totals.snapshot_max_bytes = bytes;
	return 0;
}

int rotation_round(struct rotation *rotation, struct pipeline *pipeline)
{
	uint64_t now_ns = clock_now_ns();
	int err = 0;

	if (!rotation->options)
		return 0;
	if (is_due(rotation, pipeline, now_ns)) {
		/* Relative to the last due time, so that delays do not accumulate. */
		while (rotation->options->period_ns && rotation->due_ns <= now_ns)
			rotation->due_ns += rotation->options->period_ns;
		err = rotate(rotation, pipeline);
	}
	if (err)
		return err;
	err = complete_files(rotation, pipeline, false);
	return err == -ENOMEM ? err : 0;
}

int rotation_finish(struct rotation *rotation, struct pipeline *pipeline)
{
	int err = complete_files(rotation, pipeline, true);

	if (rotation->files.size)
		err = finish_file(rotation, pipeline_view(pipeline), pipeline_modules(pipeline),
				  pipeline_recorder_error(pipeline))
			      ?: err;
	return rotation->error ?: err;
}

void rotation_say(const struct rotation *rotation)
{
	const struct rotation_totals *totals = &rotation->totals;

	say("jitbpf: %" PRIu64 " recordings, %" PRIu64 " kept; %" PRIu64
	    " samples, %.1f %% resolved; "
	    "%.1f MB\n",
	    totals->files, deletes(rotation) ? (uint64_t)rotation->kept.size : totals->files,
	    totals->samples,
	    totals->samples ? 100.0 * (double)totals->resolved / (double)totals->samples : 0.0,
	    (double)totals->bytes / 1e6);
	say("jitbpf: largest snapshot %.1f KB, longest pause of a rotation %.1f ms\n",
	    (double)totals->snapshot_max_bytes / 1e3, (double)totals->pause_max_ns / 1e6);
}

void rotation_deinit(struct rotation *rotation)
{
	vec_for_each (file, &rotation->files)
		close_file(file);
	vec_deinit(&rotation->files);
	vec_deinit(&rotation->kept);
}
