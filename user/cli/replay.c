/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/files/file_store.h"
#include "agent/files/helper/file_blob.h"
#include "base/scope.h"
#include "cli/memory_limit.h"
#include "pipeline/record/replay_source.h"
#include "run/memory_shares.h"
#include "run/messages/file_trouble.h"
#include "run/messages/say.h"
#include "sink/write/text.h"

#define LARGE_PIECE_BYTES (256 << 10) /* larger allocations are returned when they are freed */

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static void say_error(const struct replay *replay, int err, const struct recording_error *error)
{
	if (err == -ENOMEM)
		memory_limit_say();
	else if (err == -EBADMSG && !error->offset)
		say("jitbpf: %s: %s\n", replay->path, error->what ?: "damaged");
	else if (err == -EBADMSG)
		say("jitbpf: %s is damaged at offset %" PRIu64 ": %s\n", replay->path,
		    error->offset, error->what ?: "it cannot be read");
	else if (err == -EACCES && is_folder(replay->path))
		say("jitbpf: %s is a folder: give a recording in it, such as "
		    "profile.jitbpf\n",
		    replay->path);
	else if (err == -ENOENT)
		say("jitbpf: %s: %s: 'jitbpf record' makes a recording, by default "
		    "profile.jitbpf\n",
		    replay->path, strerror(-err));
	else
		say("jitbpf: %s: %s\n", replay->path, strerror(-err));
}

int replay_open(struct replay *replay, const char *path, const struct sample_filter *filter,
		const struct view_options *view, const struct code_line_rules *line_rules,
		bool debuginfod, const struct replay_code *code, uint64_t max_bytes)
{
	const struct file_store_options files = {.debuginfod = debuginfod};
	struct symbol_service symbols;
	struct file_source source;
	int err;

	*replay = (struct replay){.path = path, .event = view ? view->event : NULL};
	status_line_init(&replay->status);
	memory_limit_add(max_bytes);
	mallopt(M_MMAP_THRESHOLD, LARGE_PIECE_BYTES);
	err = file_blob_open_path(&replay->blob, path);
	err = err ?: file_store_create(&files, &replay->files);
	if (!err) {
		file_store_source(replay->files, &source);
		err = symbolizer_create(&source, &replay->symbolizer);
	}
	if (!err) {
		const struct pipeline_options options = {
			.analysis = {.symbols = &symbols,
				     .filter = filter,
				     .view = view,
				     .line_rules = line_rules,
				     .keep_code = code,
				     .extra = code ? code->extra : NULL,
				     .memory_bytes = memory_of_state(max_bytes),
				     .profile_bytes = memory_of_profile(max_bytes),
				     .joint_memory = true,
				     .modules_bytes = memory_of_modules(max_bytes),
				     .samples_bytes = memory_of_samples(max_bytes)}};

		if (view && view->no_demangle)
			symbolizer_set_no_demangle(replay->symbolizer);
		symbolize_now_init(&replay->now, replay->symbolizer, &symbols);
		status_line_init_naming(&replay->status, &replay->now.progress);
		err = pipeline_create(&options, &replay->pipeline);
	}
	if (err)
		say_error(replay, err, &(struct recording_error){0});
	return err;
}

/*
 * Print an error of the recording. Returns 0 if the part before the error can be shown, or a
 * negative errno.
 */
static int say_damage(const struct replay *replay, int state, const struct recording_error *error,
		      bool has_info)
{
	bool is_damage = state == -EBADMSG;

	if (state >= 0)
		return 0;
	say_error(replay, state, error);
	if (!has_info) {
		say("jitbpf: nothing can be shown, since %s\n",
		    is_damage ? "the damage is at the beginning of the recording: record again"
			      : "the beginning of the recording could not be read: try again");
		return state;
	}
	say("jitbpf: the part before the %s is shown: %" PRIu64 " samples\n",
	    is_damage ? "damage" : "error", pipeline_progress(replay->pipeline).samples);
	return 0;
}

/* A later version may have recorded things that this one does not know. */
static void say_skipped(const struct replay *replay, uint64_t skipped)
{
	if (skipped)
		say("jitbpf: %s: %" PRIu64
		    " records of kinds that this version does not know are left out: a later "
		    "version of jitbpf reads them\n",
		    replay->path, skipped);
}

/* Returns 0, or -EINVAL after a message if the recording lacks the event that is to be shown. */
static int check_event(const struct replay *replay)
{
	const struct run_info *info = pipeline_view(replay->pipeline)->info;
	CLEANUP(text_deinit) struct text text = {0};

	if (!replay->event || pipeline_has_event(replay->pipeline, replay->event))
		return 0;
	text_put_string(&text, "jitbpf: ");
	text_put_name(&text, replay->path, 0, 0);
	text_put_string(&text, " has no event '");
	text_put_name(&text, replay->event, 0, 0);
	text_put_string(&text, "': use -e " RUN_CPU_TIME);
	for (uint32_t i = 0; i < info->more_events; i++) {
		text_put_string(&text, ", ");
		text_put_name(&text, info->events[i].name, 0, 0);
	}
	text_put_string(&text, "\n");
	text_write(&text, stderr);
	return -EINVAL;
}

/* Read the names of the recording ahead. What is damaged is found later. */
static int read_names(struct replay *replay)
{
	struct recording_error error;
	struct recording_reader *reader;
	const struct jitbpf_record *record;
	int err = recording_reader_open(&replay->blob, &reader, &error);

	if (err)
		return err;
	while (!err && recording_reader_next(reader, &record, &error) > 0)
		err = pipeline_read_names(replay->pipeline, record);
	recording_reader_close(reader);
	return err ?: pipeline_read_names(replay->pipeline, NULL);
}

int replay_run(struct replay *replay)
{
	struct recording_error error = {0};
	struct recording_reader *reader;
	struct replay_source played;
	struct source source;
	int err = recording_reader_open(&replay->blob, &reader, &error), state;
	uint64_t skipped;
	bool has_info;

	if (err) {
		say_error(replay, err, &error);
	} else {
		replay_source_init(&played, reader, &source);
		do {
			state = pipeline_round(replay->pipeline, &source, NULL);
			if (state > 0 && pipeline_wants_names(replay->pipeline))
				state = read_names(replay) ?: state;
			if (status_line_due(&replay->status))
				status_line_say(&replay->status, "%" PRIu64 " samples read of %s",
						pipeline_progress(replay->pipeline).samples,
						replay->path);
		} while (state > 0);
		has_info = recording_reader_has_info(reader);
		skipped = recording_reader_skipped(reader);
		recording_reader_close(reader);
		status_line_clear(&replay->status);
		replay->damaged = state < 0;
		say_skipped(replay, skipped);
		err = say_damage(replay, state, &played.error, has_info);
		err = err ?: check_event(replay);
		if (err)
			return err;
		err = pipeline_finish(replay->pipeline);
		pipeline_close(replay->pipeline);
		status_line_clear(&replay->status);
		file_trouble_say(replay->files);
		if (err)
			say_error(replay, err, &error);
	}
	return err;
}

void replay_close(struct replay *replay)
{
	pipeline_destroy(replay->pipeline);
	symbolize_now_deinit(&replay->now);
	symbolizer_destroy(replay->symbolizer);
	file_store_destroy(replay->files);
	blob_close(&replay->blob);
}
