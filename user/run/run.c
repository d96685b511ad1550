/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/run.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/clock.h"
#include "base/scope.h"
#include "run/exit_status.h"
#include "run/messages/file_trouble.h"
#include "run/messages/jvm_reports.h"
#include "run/messages/say.h"
#include "run/messages/terminal.h"
#include "run/no_samples.h"
#include "run/outputs/written_files.h"
#include "run/run_outputs.h"
#include "run/run_turn.h"
#include "run/unnamed_packages.h"

#define ROUND_MIN_MS  2		   /* shortest pause between rounds */
#define ROWS_ROUND_MS 10	   /* while stacks wait for unwind rows, or a round is open */
#define EARLY_NS      100000000ull /* ROWS_ROUND_MS after the start, too, for early names */

/* Returns the recording that the live page can save. */
static struct written_recording written_recording(struct run *run)
{
	const struct outputs *outputs =
		run->rotation.options ? rotation_outputs(&run->rotation) : &run->outputs;

	if (run->page_recording.file)
		return page_recording_written(&run->page_recording);
	return (struct written_recording){run_current_recorder(run), outputs_recording_fd(outputs)};
}

/* Print how an unbounded run ends, if there is no status line that shows it. */
static void say_begun(const struct run_options *values)
{
	if (values->quiet || values->only_live || values->duration_ns || values->target.command ||
	    isatty(STDERR_FILENO))
		return;
	say("jitbpf: recording until %sCtrl-C (SIGINT) or SIGTERM\n",
	    values->target.choice.pids.size ? "the processes end, " : "");
}

static struct source_files source_files(const struct run *run)
{
	return (struct source_files){
		.reader = run->sources,
		.folders = run->options->folders.data,
		.folder_count = run->options->folders.size,
	};
}

/* Returns 0, or -ECANCELED after a message if a signal ends the run before it has begun. */
static int go_on(const struct run *run)
{
	struct pollfd signals = {.fd = run->signals.fd, .events = POLLIN};

	if (poll(&signals, 1, 0) <= 0)
		return 0;
	say("jitbpf: interrupted before the first sample: nothing is written\n");
	return -ECANCELED;
}

/* Read what there was before the run: with thousands of processes, that takes seconds. */
static int read_past(struct run *run)
{
	int err = go_on(run);

	while (!err && !live_source_ready(run->live)) {
		err = run_round(run);
		if (err < 0)
			return err;
		run_end_turn(run);
		err = go_on(run);
	}
	return err;
}

static int start(struct run *run)
{
	struct live_failure failure;
	int err = read_past(run);

	if (err)
		return err;
	err = live_source_start(run->live, &failure);
	if (err) {
		run->unsupported = failure.unsupported;
		say("jitbpf: %s\n", failure.what);
		return err;
	}
	err = go_on(run); /* for the last time: what is shown from now on says that it records */
	if (err)
		return err;
	if (run_writes_standard(run->options) && run->options->target.command &&
	    !run->options->quiet)
		say("jitbpf: standard output has the profile (-o -), so the "
		    "command's standard output goes to standard error\n");
	if (run->options->refresh_ns)
		err = refresh_start(&run->outputs, &run->options->view, run->options->refresh_ns,
				    run->pipeline, &run->refresh);
	if (err)
		return run_complain(err, "starting --refresh");
	if (run->live_page)
		err = live_page_start(run->live_page,
				      &(struct live_page_run){.broker = &run->broker,
							      .pipeline = run->pipeline,
							      .view = &run->options->view,
							      .sources = {
								      .reader = run->code,
								      .files = source_files(run),
								      .store = run->files,
							      }});
	if (err)
		return run_complain(err, "starting the live page");
	if (run->top)
		err = top_screen_show(run->top, run->pipeline, &run->options->view,
				      run->options->window_ns);
	err = err ?: target_go(&run->target);
	if (err)
		return err;
	/* Only now is an existing file replaced: a failure before keeps it. */
	outputs_begin_recording(run->rotation.options ? rotation_outputs(&run->rotation)
						      : &run->outputs);
	self_stats_begin(&run->stats);
	say_begun(run->options);
	return 0;
}

#define SCREENS 4 /* index of the first descriptor of the screens in the poll set */

static void set_screens(const struct run *run, struct pollfd *waiting)
{
	int fds[TOP_SCREEN_FDS];

	waiting[SCREENS].fd = live_page_fd(run->live_page);
	top_screen_fds(run->top, fds);
	for (int i = 0; i < TOP_SCREEN_FDS; i++)
		waiting[SCREENS + 1 + i].fd = fds[i];
	if (run->screen_stays) /* the target has ended, so its descriptor is not polled any more */
		waiting[SCREENS - 1].fd = -1;
}

/* Returns true if the run ends. If the target has ended, the screen of `top` stays open. */
static bool is_over(struct run *run)
{
	if (!top_screen_round(run->top))
		return true;
	if (run->screen_stays || !target_ended(&run->target))
		return false;
	if (!run->top)
		return true;
	run->screen_stays = true;
	top_screen_say_ended(run->top);
	return false;
}

static int record_until_told(struct run *run)
{
	uint64_t start_ns = clock_now_ns(), end_ns = UINT64_MAX, now_ns;
	struct pollfd waiting[] = {
		{.fd = run->signals.fd, .events = POLLIN},
		{.fd = unwind_workers_fd(&run->unwind_workers), .events = POLLIN},
		{.fd = live_source_fd(run->live), .events = POLLIN},
		{.fd = target_fd(&run->target), .events = POLLIN},
		{.fd = -1, .events = POLLIN}, /* of the live page, and of the screen */
		{.fd = -1, .events = POLLIN},
		{.fd = -1, .events = POLLIN},
	};
	struct written_recording now;
	int state = SOURCE_ROUND, pause_ms = 0;
	bool is_early = false; /* the last pause was cut short */

	if (run->options->duration_ns)
		end_ns = start_ns + run->options->duration_ns;
	status_line_init(&run->status);
	while ((now_ns = clock_now_ns()) < end_ns) {
		uint64_t left_ms = (end_ns - now_ns + 999999) / 1000000;
		bool waits = state == SOURCE_OPEN || pipeline_waits(run->pipeline) ||
			     live_source_waits_for_jvm(run->live) || now_ns - start_ns < EARLY_NS;
		int wait_ms = pipeline_is_urgent(run->pipeline) ? 0
			      : waits				? ROWS_ROUND_MS
								: LIVE_ROUND_MS;

		set_screens(run, waiting);
		/*
		 * Wake-ups that come soon after each other end in one round: a process that
		 * executes programs without end costs no more. A recipe ends a pause at once, but
		 * not two in a row.
		 */
		poll(waiting, is_early ? 1 : 2, pause_ms);
		is_early = !is_early && waiting[1].revents & POLLIN;
		pause_ms = ROUND_MIN_MS;
		poll(waiting, ARRAY_SIZE(waiting), left_ms < wait_ms ? (int)left_ms : wait_ms);
		state = run_round(run);
		if (state < 0)
			return state;
		now = written_recording(run);
		live_page_round(run->live_page, &now);
		refresh_round(run->refresh);
		if (pipeline_recorder_error(run->pipeline)) {
			status_line_clear(&run->status);
			outputs_fail_recording(run->rotation.options
						       ? rotation_outputs(&run->rotation)
						       : &run->outputs,
					       pipeline_recorder_error(run->pipeline));
		}
		page_recording_check(&run->page_recording, &run->options->disk,
				     pipeline_recorder_error(run->pipeline), &run->status);
		state = rotation_round(&run->rotation, run->pipeline);
		if (state < 0)
			return run_complain(state, "rotating the recording");
		if (waiting[0].revents || is_over(run) || !run_outputs_have_room(run, now_ns))
			break;
		if (status_line_due(&run->status)) {
			struct analysis_progress progress = pipeline_progress(run->pipeline);

			status_line_say_progress(&run->status, &progress,
						 live_source_lost(run->live));
		}
		run_end_turn(run);
	}
	status_line_clear(&run->status);
	return 0;
}

/* End the reader before the outputs are written, to bound the peak of memory. */
static void end_naming(struct run *run)
{
	symbol_worker_destroy(TAKE_PTR(run->worker));
	name_reader_destroy(TAKE_PTR(run->names));
}

static int finish_recording(struct run *run)
{
	int err = pipeline_recorder_error(run->pipeline);

	if (!err && run->recorder)
		err = recorder_finish(run->recorder, pipeline_view(run->pipeline),
				      pipeline_modules(run->pipeline));
	if (err)
		outputs_fail_recording(&run->outputs, err);
	else
		err = outputs_keep_recording(&run->outputs);
	recorder_destroy(TAKE_PTR(run->recorder));
	return err;
}

/* After a second signal, which ends the run at once. Called on a thread of its own. */
static void say_interrupted(void *run_)
{
	const struct run *run = run_;

	if (run->rotation.options)
		say("jitbpf: interrupted: the last recording is incomplete; 'jitbpf "
		    "report' shows what it holds so far\n");
	outputs_say_interrupted(&run->outputs);
}

static int write_summary(struct run *run)
{
	pipeline_set_screen(run->pipeline, terminal_columns(STDERR_FILENO),
			    terminal_has_colours(STDERR_FILENO, run->options->view.color));
	return pipeline_write(run->pipeline, stderr);
}

/*
 * Drain the rings, resolve names, and write the outputs: all that can be written, whatever failed
 * before. err is the error that ended the rounds. Returns the first error.
 */
static int finish(struct run *run, int err)
{
	int state = err, screen = top_screen_end(run->top);

	live_source_stop(run->live);
	stop_signals_kill_next(&run->signals, say_interrupted, run);
	while (!err && (state = run_round(run)) > 0) {
		run_end_turn(run);
		poll(NULL, 0, 1); /* a process may still complete a record that it has reserved */
	}
	state = live_source_end_jvms(run->live) ?: state;
	jvm_reports_tell(run->live, &run->status, &run->jvms_told);
	refresh_stop(run->refresh, run->options->quiet);
	err = pipeline_finish(run->pipeline);
	live_page_end(run->live_page, run->options->quiet);
	status_line_clear(&run->status);
	if (err)
		run_complain(err, "resolving names");
	err = state ?: err ?: screen;
	if (run->rotation.options) /* completes epochs, whose names may still come */
		err = rotation_finish(&run->rotation, run->pipeline) ?: err;
	end_naming(run);
	file_trouble_say(run->files);
	attach_trouble_say(run->live);
	if (!run->rotation.options)
		err = finish_recording(run) ?: err;
	if (!run->rotation.options)
		unnamed_packages_find(run->pipeline, run->files, &run->outputs,
				      !run->options->quiet, &run->packages);
	err = outputs_write(&run->outputs, run->pipeline, &run->status) ?: err;
	if (!run->options->quiet && run->rotation.options)
		rotation_say(&run->rotation);
	else if (!run->options->quiet)
		err = write_summary(run) ?: err;
	if (!run->options->quiet && !run->rotation.options)
		no_samples_say_recorded(pipeline_view(run->pipeline), &run->options->target,
					run->options->freq_hz);
	if (!run->options->quiet)
		written_files_say(&run->outputs);
	return err;
}

static int record_all(struct run *run)
{
	int err = run_set_up(run);

	err = err ?: start(run);
	return err ?: finish(run, record_until_told(run));
}

int run_until_end(const struct run_options *values)
{
	struct run run = {
		.options = values,
		.target.options = &values->target,
		.signals.fd = -1,
		.broker.socket = -1,
	};
	int err = record_all(&run), status = err || run.broker_lost ? 1 : 0;

	if (run.unsupported)
		status = EXIT_UNSUPPORTED;
	if (run.misused)
		status = EXIT_USAGE;
	stop_signals_release(&run.signals); /* a signal kills: the command may still run */
	err = outputs_close(&run.outputs);
	err = self_stats_close(&run.stats) ?: err;
	if (err)
		status = 1;
	status = target_end(&run.target, status);
	run_release(&run);
	return status;
}
