/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/run_outputs.h"

#include <errno.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "agent/clock.h"
#include "base/scope.h"
#include "base/text.h"
#include "run/messages/say.h"
#include "sink/write/text.h"

/* Open the first recording of a run with --rotate. */
static int open_rotation(struct run *run)
{
	const string_list *paths = &run->options->outputs;
	const char *path = paths->size ? paths->data[0] : run->default_output;

	if (paths->size > 1 || !ends_with(path, RECORDING_EXTENSION)) {
		say("jitbpf %s: --rotate writes one recording (-o FILE" RECORDING_EXTENSION
		    "); make other formats of its files with "
		    "'jitbpf report'\n",
		    run->options->name);
		run->misused = true;
		return -EINVAL;
	}
	return rotation_init(&run->rotation, &run->options->rotation, path, run->access.opener);
}

/*
 * Returns 0 if one of the outputs can be written during the recording, else -EINVAL after a
 * message.
 */
static int check_refresh(struct run *run)
{
	vec_for_each (output, &run->outputs.files) {
		if (output_can_refresh(output))
			return 0;
	}
	say("jitbpf %s: --refresh needs an output (-o) with the extension .html or "
	    ".folded, in a folder where it can be replaced\n",
	    run->options->name);
	run->misused = true;
	return -EINVAL;
}

int run_outputs_start(struct run *run)
{
	string_list *paths = &run->declared;
	int err = 0;

	run->default_output = RECORDING_DEFAULT;
	vec_for_each (path, &run->options->outputs)
		err = err ?: vec_push(paths, *path);
	if (!paths->size && !run->options->only_live)
		err = err ?: vec_push(paths, run->default_output);
	if (run->options->stats)
		err = err ?: vec_push(paths, run->options->stats);
	if (err)
		return run_complain(err, "starting");
	err = output_access_init(&run->access, &(struct output_paths){
						       .paths = paths->data,
						       .count = paths->size,
						       .series = run->options->rotation.rotate,
						       .keeps_old = !run->options->outputs.size &&
								    !run->options->only_live,
					       });
	run->outputs.opener = run->access.opener;
	return err;
}

bool run_writes_standard(const struct run_options *options)
{
	bool standard = false;

	vec_for_each (path, &options->outputs)
		standard |= outputs_is_standard(*path);
	return standard;
}

static const char *format_of(const struct run_options *options, const char *path)
{
	return outputs_is_standard(path) || options->outputs.size == 1 ? options->format : NULL;
}

int run_outputs_open(struct run *run)
{
	int err = 0;

	if (run->options->rotation.rotate)
		return open_rotation(run);
	vec_for_each (path, &run->options->outputs)
		err = err ?: outputs_add(&run->outputs, *path, format_of(run->options, *path));
	if (!run->options->outputs.size && !run->options->only_live)
		err = outputs_add(&run->outputs, run->default_output, NULL);
	run->misused = err == -EINVAL;
	if (!err && run->options->live && !outputs_recording(&run->outputs))
		page_recording_open(&run->page_recording);
	if (!err && run->options->refresh_ns)
		err = check_refresh(run);
	return err;
}

int run_outputs_begin(struct run *run)
{
	AUTO_FREE char *command = target_line(&run->options->target);
	struct utsname machine;
	struct run_info info = {
		.start_ns = clock_now_ns(),
		.wall_clock_ns = clock_read_ns(CLOCK_REALTIME),
		.freq_hz = run->options->freq_hz,
		.cpus = live_source_cpus(run->live),
		.event = live_source_event(run->live),
		.command = command,
		.host = machine.nodename,
		.kernel = machine.release,
		.more_events = (uint32_t)run->options->events.count,
	};
	FILE *recording = outputs_recording(&run->outputs);
	int err;

	for (uint32_t i = 0; i < info.more_events; i++) {
		const struct chosen_event *chosen = &run->options->events.chosen[i];

		info.events[i] = (struct run_event){chosen->event->name, chosen->event->unit,
						    chosen->period};
	}
	if (!command)
		return -ENOMEM;
	uname(&machine);
	err = pipeline_set_info(run->pipeline, &info);
	if (!err && run->rotation.options)
		return rotation_begin(&run->rotation, &info);
	if (!err && recording)
		err = recorder_create(recording, &info, &run->recorder);
	return err ?: page_recording_begin(&run->page_recording, &info);
}

/* --- the disk ------------------------------------------------------------------------- */

#define DISK_STEP_NS 100000000ull

static void say_disk(const struct run *run, enum disk_state state, int fd, uint64_t free_bytes)
{
	const struct disk_limits *limits = &run->options->disk;
	CLEANUP(text_deinit) struct text text = {0};

	text_put_string(&text, "jitbpf: ");
	if (state == DISK_MAX_SIZE) {
		text_put_string(&text, "the recording has reached ");
		text_put_bytes(&text, limits->max_bytes, 0);
		text_put_string(&text, " (--max-size): the run ends\n");
	} else {
		text_put_string(&text, "only ");
		text_put_bytes(&text, free_bytes, 0);
		text_put_string(&text, " are free where the recording is, less than ");
		text_put_bytes(&text, disk_limits_min_free(limits, fd), 0);
		text_put_string(&text, " (--min-free): the run ends\n");
	}
	text_write(&text, stderr);
}

bool run_outputs_have_room(struct run *run, uint64_t now_ns)
{
	bool rotates = run->rotation.options;
	uint64_t free_bytes = 0;
	enum disk_state state;
	int fd;

	if (now_ns < run->disk_ns)
		return true;
	run->disk_ns = now_ns + DISK_STEP_NS;
	fd = outputs_recording_fd(rotates ? rotation_outputs(&run->rotation) : &run->outputs);
	do {
		uint64_t bytes = rotates	 ? rotation_bytes(&run->rotation)
				 : run->recorder ? recorder_bytes(run->recorder)
						 : 0;

		state = disk_limits_check(&run->options->disk, fd, bytes, &free_bytes);
	} while (state != DISK_OK && rotates &&
		 rotation_drop_oldest(&run->rotation, run->pipeline));
	if (state == DISK_OK)
		return true;
	status_line_clear(&run->status);
	say_disk(run, state, fd, free_bytes);
	return false;
}
