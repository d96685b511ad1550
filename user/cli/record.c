/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* jitbpf record: profile on the live kernel. */
#include <malloc.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "agent/clock.h"
#include "agent/machine/cgroups.h"
#include "agent/machine/machine_check.h"
#include "base/scope.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/file_trouble.h"
#include "cli/engine_env_options.h"
#include "cli/jvm_reports.h"
#include "cli/line_rules.h"
#include "cli/memory_option.h"
#include "cli/no_samples.h"
#include "cli/record_setup.h"
#include "cli/terminal.h"
#include "cli/unnamed_packages.h"
#include "cli/view_options.h"
#include "cli/written_files.h"
#include "sink/write/text.h"

/*
 * Larger allocations are returned to the system when they are freed: symbols
 * are read in large, short-lived buffers.
 */
#define LARGE_PIECE_BYTES (256 << 10)

#define SLOW_HZ 250 /* up to this rate, half of a ring is enough */

#define ROUND_MIN_MS  2		   /* from a round to the next */
#define ROWS_ROUND_MS 10	   /* while stacks wait for unwind rows, or a round is open */
#define EARLY_NS      100000000ull /* rounds are as short: names of a short run begin early */

#define FIELD(name) offsetof(struct record_options, name)

static const struct option_spec options[] = {
	{'F', "freq", OPTION_NUMBER, FIELD(freq_hz), "HZ",
	 "samples per second on each CPU (default 99)", 1, 1000000},
	{'d', "duration", OPTION_SECONDS, FIELD(duration_ns), "TIME",
	 "stop after TIME: seconds, or such as 500ms, 2m, 1h", 1, UINT64_MAX},
	{'p', "pid", OPTION_STRINGS, FIELD(target.choose.processes), "PID|NAME[,...]",
	 "profile these processes and their future children, until they end; or all processes of "
	 "these names, also those that start later (a name is that of the process or of its "
	 "program file)",
	 0, 0, .candidates = CANDIDATES_NAMES},
	{'u', "user", OPTION_STRINGS, FIELD(target.choose.users), "USER",
	 "profile only processes of this user, by name or number (may be repeated)", 0, 0},
	{'G', "cgroup", OPTION_STRINGS, FIELD(target.choose.cgroups), "CGROUP",
	 "profile only processes while they are in this cgroup or below it: a path, or the name of "
	 "a systemd unit (needs cgroup version 2; may be repeated)",
	 0, 0},
	{0, "container", OPTION_STRINGS, FIELD(target.choose.containers), "ID|NAME",
	 "the same for a container of Docker, Podman, containerd, LXC or systemd-nspawn, or a pod "
	 "of Kubernetes (may be repeated)",
	 0, 0},
	{0, "exclude-self", OPTION_FLAG, FIELD(target.choose.exclude_self), NULL,
	 "do not profile jitbpf's own processes", 0, 0},
	{'a', "all", OPTION_FLAG, FIELD(target.system_wide), NULL,
	 "profile the whole system, even if a command is given", 0, 0},
	{'o', "output", OPTION_STRINGS, FIELD(outputs), "FILE",
	 ".jitbpf, .folded, .html, .json.gz (Firefox Profiler), .pb.gz (pprof), "
	 ".speedscope.json or .txt (script); may be repeated "
	 "(default profile.jitbpf)",
	 0, 0, .candidates = CANDIDATES_OUTPUTS},
	{'f', "format", OPTION_STRING, FIELD(format), "FORMAT",
	 "with -o -: write standard output as folded, html, json, script, speedscope, summary or "
	 "top; the command's own output goes to standard error",
	 0, 0, .candidates = CANDIDATES_FORMATS},
	{0, "rotate", OPTION_STRING, FIELD(rotation.rotate), "TIME|SIZE",
	 "begin a new recording after TIME (60, 10m, 1h), or when SIZE (1M, 2G) is reached; each "
	 "file is named for its time and can be read alone",
	 0, 0},
	{0, "keep", OPTION_NUMBER, FIELD(rotation.keep), "N",
	 "with --rotate: keep the last N recordings and delete older ones", 1, 1000000},
	{0, "max-size", OPTION_SIZE, FIELD(disk.max_bytes), "SIZE",
	 "end the run when its recording has SIZE; with --rotate: delete the oldest recordings of "
	 "the run, so that all together have at most SIZE",
	 1u << 20, UINT64_MAX},
	{0, "min-free", OPTION_SIZE, FIELD(disk.min_free_bytes), "SIZE",
	 "end the run, or delete its oldest recordings if --keep or --max-size allows it, when less "
	 "than SIZE is free where the recording is (default 1G, or 5 % of a small disk; 0: never)",
	 0, UINT64_MAX},
	{0, "refresh", OPTION_SECONDS, FIELD(refresh_ns), "TIME",
	 "also write .html and .folded outputs every TIME (5, 500ms) while recording", 1,
	 UINT64_MAX},
	{0, "live", OPTION_FLAG, FIELD(live), NULL,
	 "also serve a page on 127.0.0.1 that shows the flame graph while it happens, as 'jitbpf "
	 "live'",
	 0, 0},
	{0, "port", OPTION_NUMBER, FIELD(port), "N",
	 "port of the live page; if it is taken, the next free one (default 7070)", 1, 65535},
	{0, "code", OPTION_FLAG, FIELD(code), NULL,
	 "keep the machine code of sampled JIT code in the recording, for 'jitbpf annotate'", 0, 0},
	{0, "user-regs", OPTION_FLAG, FIELD(user_regs), NULL,
	 "add the user registers to every sample", 0, 0},
	{0, "code-ring", OPTION_SIZE, FIELD(code_ring_bytes), "SIZE",
	 "size of the ring for JIT records (default 8M)", 4096, 1u << 30},
	{0, "sample-ring", OPTION_SIZE, FIELD(sample_ring_bytes), "SIZE",
	 "size of each CPU's ring for samples (default 2M, up to 250 Hz 1M)", 4096, 1u << 30},
	MEMORY_OPTION(FIELD(memory_bytes)),
	{0, "shim", OPTION_STRING, FIELD(shim), "FILE",
	 "libjitbpf.so to use (default: the one beside this program)", 0, 0},
	{0, "no-env", OPTION_FLAG, FIELD(no_env), NULL,
	 "do not add the variables of 'jitbpf env' to the command's environment", 0, 0},
	ENGINE_ENV_OPTIONS(FIELD(env)),
	{0, "attach-jvms", OPTION_FLAG, FIELD(attach_jvms), NULL,
	 "with -a: load the agent for Java into all JVMs; it stays there. Without -a, that is the "
	 "default for the profiled processes",
	 0, 0},
	{0, "no-attach-jvms", OPTION_FLAG, FIELD(no_attach_jvms), NULL,
	 "do not load the agent for Java into JVMs", 0, 0},
	{0, "no-debuginfod", OPTION_FLAG, FIELD(no_debuginfod), NULL,
	 "do not query the servers in $DEBUGINFOD_URLS for debug info", 0, 0},
	LINE_RULES_OPTION(FIELD(line_offsets)),
	{0, "stats", OPTION_STRING, FIELD(stats), "FILE",
	 "write a line of JSON about jitbpf itself to FILE every second: memory, descriptors, CPU "
	 "time, longest pause of its event loop",
	 0, 0},
	{'q', "quiet", OPTION_FLAG, FIELD(quiet), NULL, "no summary at the end", 0, 0},
};

/* Begin a turn of the event loop and run one round. Returns an enum source_state, or a negative
 * errno after a message. */
static int round_once(struct recording *run)
{
	struct recorder *recorder =
		run->rotation.options ? rotation_recorder(&run->rotation) : run->recorder;
	int state;

	loop_health_begin(live_source_health(run->live), clock_now_ns());
	state = pipeline_round(run->pipeline, &run->source, recorder);
	file_store_forget(run->files, pipeline_modules(run->pipeline));
	return state < 0 ? record_complain(state, "recording") : state;
}

static void end_turn(struct recording *run)
{
	struct loop_health *health = live_source_health(run->live);
	uint64_t now_ns = clock_now_ns();

	loop_health_end(health, now_ns);
	attach_trouble_tell(run->live, &run->status);
	jvm_reports_tell(run->live, &run->status, &run->jvms_told);
	if (self_stats_due(&run->stats, now_ns)) {
		struct self_counts counts = {
			.files = file_store_counts(run->files).known,
			.modules = pipeline_modules(run->pipeline)->slots.size,
			.methods = pipeline_progress(run->pipeline).jit_methods,
			.lost = live_source_lost(run->live),
		};

		self_stats_write(&run->stats, &counts, health, now_ns);
	}
}

#define DISK_STEP_NS 100000000ull

static void say_disk(const struct recording *run, enum disk_state state, int fd,
		     uint64_t free_bytes)
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

/* Make room on the disk if it needs some. Returns false if there is none: the run must end. */
static bool has_room(struct recording *run, uint64_t now_ns)
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

/* Without a status line, nothing shows that an unbounded run goes on. */
static void say_begun(const struct record_options *values)
{
	if (values->quiet || values->only_live || values->duration_ns || values->target.command ||
	    isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "jitbpf: recording until %sCtrl-C (SIGINT) or SIGTERM\n",
		values->target.choice.pids.size ? "the processes end, " : "");
}

static int start(struct recording *run)
{
	struct live_failure failure;
	int err;

	while (!live_source_ready(run->live)) {
		err = round_once(run);
		if (err < 0)
			return err;
		end_turn(run);
	}
	err = live_source_start(run->live, &failure);
	if (err) {
		run->unsupported = failure.unsupported;
		fprintf(stderr, "jitbpf: %s\n", failure.what);
		return err;
	}
	if (run->options->format && run->options->target.command && !run->options->quiet)
		fprintf(stderr, "jitbpf: the command's standard output goes to standard error: "
				"that of jitbpf has -o -\n");
	if (run->options->refresh_ns)
		err = refresh_start(&run->outputs, &run->options->view, run->options->refresh_ns,
				    run->pipeline, &run->refresh);
	if (err)
		return record_complain(err, "starting --refresh");
	if (run->live_page)
		err = live_page_start(run->live_page,
				      &(struct live_page_run){.broker = &run->broker,
							      .pipeline = run->pipeline,
							      .view = &run->options->view,
							      .code = run->code,
							      .sources = run->sources});
	if (err)
		return record_complain(err, "starting the live page");
	if (run->top)
		err = top_screen_show(run->top, run->pipeline, &run->options->view,
				      run->options->window_ns);
	if (err)
		return err;
	err = target_go(&run->target);
	if (err)
		return err;
	/* Until now, a failure leaves the existing file in place. */
	outputs_begin_recording(run->rotation.options ? rotation_outputs(&run->rotation)
						      : &run->outputs);
	self_stats_begin(&run->stats);
	say_begun(run->options);
	return 0;
}

#define SCREENS 3 /* place of the screens' descriptors among those that are waited for */

static void set_screens(const struct recording *run, struct pollfd *waiting)
{
	int fds[TOP_SCREEN_FDS];

	waiting[SCREENS].fd = live_page_fd(run->live_page);
	top_screen_fds(run->top, fds);
	for (int i = 0; i < TOP_SCREEN_FDS; i++)
		waiting[SCREENS + 1 + i].fd = fds[i];
	if (run->screen_stays) /* the end of the command was seen */
		waiting[SCREENS - 1].fd = -1;
}

/* Returns true if the run ends. The screen of `top` stays when what it shows has ended. */
static bool is_over(struct recording *run)
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

static int record_until_told(struct recording *run)
{
	uint64_t start_ns = clock_now_ns(), end_ns = UINT64_MAX, now_ns;
	struct pollfd waiting[] = {
		{.fd = run->signals.fd, .events = POLLIN},
		{.fd = live_source_fd(run->live), .events = POLLIN},
		{.fd = target_fd(&run->target), .events = POLLIN},
		{.fd = -1, .events = POLLIN}, /* of the live page, and of the screen */
		{.fd = -1, .events = POLLIN},
		{.fd = -1, .events = POLLIN},
	};
	int state = SOURCE_ROUND;

	if (run->options->duration_ns)
		end_ns = start_ns + run->options->duration_ns;
	status_line_init(&run->status);
	while ((now_ns = clock_now_ns()) < end_ns) {
		uint64_t left_ms = (end_ns - now_ns + 999999) / 1000000;
		bool waits = state == SOURCE_OPEN || pipeline_waits(run->pipeline) ||
			     live_source_waits_for_jvm(run->live) || now_ns - start_ns < EARLY_NS;
		int wait_ms = waits ? ROWS_ROUND_MS : LIVE_ROUND_MS;

		set_screens(run, waiting);
		/* A ring that has any data is ready at once: records would come one to a round. */
		poll(waiting, 1, ROUND_MIN_MS);
		poll(waiting, ARRAY_SIZE(waiting), left_ms < wait_ms ? (int)left_ms : wait_ms);
		state = round_once(run);
		if (state < 0)
			return state;
		live_page_round(run->live_page);
		if (pipeline_recorder_error(run->pipeline)) {
			status_line_clear(&run->status);
			outputs_fail_recording(run->rotation.options
						       ? rotation_outputs(&run->rotation)
						       : &run->outputs,
					       pipeline_recorder_error(run->pipeline));
		}
		state = rotation_round(&run->rotation, run->pipeline);
		if (state < 0)
			return record_complain(state, "rotating the recording");
		if (waiting[0].revents || is_over(run) || !has_room(run, now_ns))
			break;
		if (status_line_due(&run->status)) {
			struct analysis_progress progress = pipeline_progress(run->pipeline);

			status_line_say_progress(&run->status, &progress,
						 live_source_lost(run->live));
		}
		end_turn(run);
	}
	status_line_clear(&run->status);
	return 0;
}

/* End the reader before the outputs are written, to bound the peak of memory. */
static void end_naming(struct recording *run)
{
	symbol_worker_destroy(TAKE_PTR(run->worker));
	name_reader_destroy(TAKE_PTR(run->names));
}

static int finish_recording(struct recording *run)
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

/* A second signal: the run ends as it is. On a thread of its own. */
static void say_interrupted(void *run_)
{
	const struct recording *run = run_;

	if (run->rotation.options)
		fprintf(stderr, "jitbpf: interrupted: the last recording is incomplete; 'jitbpf "
				"report' shows what it holds so far\n");
	outputs_say_interrupted(&run->outputs);
}

static int write_summary(struct recording *run)
{
	pipeline_set_screen(run->pipeline, terminal_columns(STDERR_FILENO),
			    terminal_has_colours(STDERR_FILENO, run->options->view.color));
	return pipeline_write(run->pipeline, stderr);
}

/*
 * Drain the rings, resolve names, and write the outputs: all that can be written, whatever failed
 * before. err is the error that ended the rounds. Returns the first error.
 */
static int finish(struct recording *run, int err)
{
	int state = err, screen = top_screen_end(run->top);

	live_source_stop(run->live);
	stop_signals_kill_next(&run->signals, say_interrupted, run);
	while (!err && (state = round_once(run)) > 0) {
		end_turn(run);
		poll(NULL, 0, 1); /* a process must complete a record that it has reserved */
	}
	state = live_source_end_jvms(run->live) ?: state;
	jvm_reports_tell(run->live, &run->status, &run->jvms_told);
	refresh_stop(run->refresh, run->options->quiet);
	err = pipeline_finish(run->pipeline);
	live_page_end(run->live_page, run->options->quiet);
	status_line_clear(&run->status);
	if (err)
		record_complain(err, "resolving names");
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

static int record_all(struct recording *run)
{
	int err = record_set_up(run);

	err = err ?: start(run);
	return err ?: finish(run, record_until_told(run));
}

/* Returns the exit status. */
static int record(const struct record_options *values)
{
	struct recording run = {
		.options = values,
		.target.options = &values->target,
		.signals.fd = -1,
		.broker.socket = -1,
	};
	int err = record_all(&run), status = err ? 1 : 0;

	if (run.unsupported)
		status = EXIT_UNSUPPORTED;
	if (run.misused)
		status = EXIT_USAGE;
	stop_signals_release(&run.signals); /* the command may run on for a while */
	err = outputs_close(&run.outputs);
	err = self_stats_close(&run.stats) ?: err;
	if (err)
		status = 1;
	status = target_end(&run.target, status);
	record_release(&run);
	return status;
}

/* Returns true if one of the outputs is a recording. */
static bool records(const struct record_options *values)
{
	vec_for_each (output, &values->outputs) {
		if (ends_with(*output, RECORDING_EXTENSION))
			return true;
	}
	return !values->outputs.size && !values->only_live;
}

/* Returns OPTIONS_OK, or the exit status after a message. */
/* Names of containers come from cgroups of version 2. */
static void say_if_no_containers(const struct record_options *values)
{
	AUTO_FREE char *mount = NULL;

	if (values->view.by == VIEW_BY_CONTAINER && cgroups_mount(&mount) == -ENOENT)
		fprintf(stderr, "jitbpf: --by container: cgroup version 2 is not mounted; where "
				"only version 1 is used, all processes are in 'host'\n");
}

static int check(struct record_options *values)
{
	char missing[256];

	int status = choice_make(&values->target.choose, &values->target.choice);

	if (status != OPTIONS_OK)
		return status;
	if (values->target.choice.pids.size &&
	    (values->target.command || values->target.system_wide)) {
		fprintf(stderr,
			"jitbpf record: -p with pids cannot be combined with -a or a command\n");
		return EXIT_USAGE;
	}
	if (values->rotation.rotate && !rotation_parse(&values->rotation)) {
		fprintf(stderr,
			"jitbpf record: invalid value '%s' for --rotate: expected a duration from 1 s, "
			"or a size from 1M, such as 60, 10m, 1h or 100M\n",
			values->rotation.rotate);
		return EXIT_USAGE;
	}
	if (values->live && view_by_thread(values->view.by)) {
		fprintf(stderr,
			"jitbpf: the live page cannot show --by %s: it selects %ss itself; use "
			"--by pid or comm\n",
			view_by_names[values->view.by],
			values->view.by == VIEW_BY_TID ? "thread" : "container");
		return EXIT_USAGE;
	}
	if (values->top && values->view.by == VIEW_BY_TID) {
		fprintf(stderr, "jitbpf top: --by tid is not possible: use --by pid, and T for one "
				"thread\n");
		return EXIT_USAGE;
	}
	if (values->port && !values->live) {
		fprintf(stderr, "jitbpf record: --port needs --live\n");
		return EXIT_USAGE;
	}
	if (values->refresh_ns && values->rotation.rotate) {
		fprintf(stderr, "jitbpf record: --refresh cannot be combined with --rotate\n");
		return EXIT_USAGE;
	}
	if (values->code && !records(values)) {
		fprintf(stderr, "jitbpf record: --code needs a recording: -o FILE.jitbpf\n");
		return EXIT_USAGE;
	}
	if (values->rotation.keep && !values->rotation.rotate) {
		fprintf(stderr, "jitbpf record: --keep needs --rotate\n");
		return EXIT_USAGE;
	}
	values->rotation.all_bytes = values->disk.max_bytes;
	machine_silence_libbpf();
	if (machine_lacks(missing, sizeof(missing))) {
		fprintf(stderr, "jitbpf: %s\n", missing);
		return EXIT_UNSUPPORTED;
	}
	return OPTIONS_OK;
}

/* Returns false after a message if standard output cannot have an output, or not in that format. */
static bool check_standard_output(const struct record_options *values)
{
	size_t count = 0;

	vec_for_each (path, &values->outputs)
		count += outputs_is_standard(*path);
	if (count && values->top)
		fprintf(stderr, "jitbpf top: standard output is its screen: use -o FILE\n");
	else if (count > 1)
		fprintf(stderr, "jitbpf record: standard output is given twice as an output\n");
	else if (count && !values->format)
		fprintf(stderr, "jitbpf record: -o - needs a format, such as -f folded, -f script "
				"or -f json\n");
	else if (!count && values->format)
		fprintf(stderr,
			"jitbpf record: -f is the format of standard output (-o -): that of "
			"a file is its extension\n");
	else
		return true;
	return false;
}

enum mode { MODE_RECORD, MODE_LIVE, MODE_TOP };

static int run_with(enum mode mode, const struct command_spec *spec, int argc, char **argv)
{
	struct record_options values = {
		.freq_hz = 99,
		.live = mode == MODE_LIVE,
		.top = mode == MODE_TOP,
		.only_live = mode != MODE_RECORD,
		.disk.min_free_bytes = UINT64_MAX,
		.code_ring_bytes = 8u << 20, /* 0.12 s of 200,000 loads per second */
		.memory_bytes = MEMORY_DEFAULT,
	};
	int operand, status = options_parse(spec, argc, argv, &values, &operand);

	if (status == OPTIONS_OK && operand < argc)
		values.target.command = argv + operand;
	if (!values.sample_ring_bytes) /* rings cost time and memory on each CPU */
		values.sample_ring_bytes = (values.freq_hz > SLOW_HZ ? 2u : 1u) << 20;
	if (values.top && !values.outputs.size)
		values.quiet = true;
	if (status == OPTIONS_OK)
		status = check_standard_output(&values) ? check(&values) : EXIT_USAGE;
	if (status == OPTIONS_OK && values.top && !top_screen_is_possible(values.once))
		status = EXIT_USAGE;
	if (status == OPTIONS_OK && line_rules_init(&values.line_offsets, &values.line_rules))
		status = OPTIONS_BAD;
	if (status == OPTIONS_OK) {
		/* Descriptors are needed for each CPU, and for each file with code. */
		getrlimit(RLIMIT_NOFILE, &values.open_files);
		setrlimit(RLIMIT_NOFILE,
			  &(struct rlimit){values.open_files.rlim_max, values.open_files.rlim_max});
		mallopt(M_MMAP_THRESHOLD, LARGE_PIECE_BYTES);
		say_if_no_containers(&values);
		status = record(&values);
	}
	line_rules_deinit(&values.line_rules);
	choice_deinit(&values.target.choice);
	options_release(spec, &values);
	return status;
}

static int run_record(const struct command_spec *spec, int argc, char **argv)
{
	return run_with(MODE_RECORD, spec, argc, argv);
}

static int run_live(const struct command_spec *spec, int argc, char **argv)
{
	return run_with(MODE_LIVE, spec, argc, argv);
}

static int run_top(const struct command_spec *spec, int argc, char **argv)
{
	return run_with(MODE_TOP, spec, argc, argv);
}

static const struct option_spec top_options[] = {
	{0, "window", OPTION_SECONDS, FIELD(window_ns), "TIME",
	 "show only the samples of the last TIME, such as 10s (default: all; the key w changes it)",
	 1, UINT64_MAX / 2},
	{0, "once", OPTION_FLAG, FIELD(once), NULL,
	 "not possible: says how to show the same once, as text"},
};

static const struct option_table top_option_table = {top_options, ARRAY_SIZE(top_options)};

const struct command_spec command_top = {
	.name = "top",
	.usage = "[options] [-- COMMAND ARGS...]",
	.summary = "show processes, functions and call trees in the terminal while it happens",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = {{&view_option_table, FIELD(view)}, {&top_option_table, 0}},
	.takes_command = true,
	.run = run_top,
};

const struct command_spec command_live = {
	.name = "live",
	.usage = "[options] [-- COMMAND ARGS...]",
	.summary = "show the flame graph in a browser while it happens",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = {{&view_option_table, FIELD(view)}, {&script_option_table, FIELD(view)}},
	.takes_command = true,
	.run = run_live,
};

const struct command_spec command_record = {
	.name = "record",
	.usage = "[options] [-- COMMAND ARGS...]",
	.summary = "profile a command, processes or the whole system",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = {{&view_option_table, FIELD(view)}, {&script_option_table, FIELD(view)}},
	.takes_command = true,
	.run = run_record,
};
