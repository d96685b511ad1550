/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* jitbpf record: the live kernel through the stages. */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/file_store.h"
#include "agent/live_source.h"
#include "agent/requirements.h"
#include "agent/stop_signals.h"
#include "agent/symbol_worker.h"
#include "base/scope.h"
#include "cli/commands.h"
#include "cli/file_trouble.h"
#include "cli/line_rules.h"
#include "cli/outputs.h"
#include "cli/status_line.h"
#include "cli/subject.h"
#include "cli/view_options.h"

/* From here on memory goes back to the system at once: symbols are read in large, brief pieces. */
#define LARGE_PIECE_BYTES (256 << 10)

struct record_options {
	uint32_t freq_hz;
	uint64_t duration_ns; /* 0: until it is stopped */
	struct subject_options subject;
	string_list outputs;
	bool user_regs;
	bool quiet;
	uint64_t code_ring_bytes;
	uint64_t sample_ring_bytes;
	const char *shim;
	bool no_debuginfod;
	bool no_env;
	struct view_options view;
	string_list line_offsets;
	struct code_line_rules line_rules;
	struct rlimit open_files; /* the limit before we raised it */
};

#define FIELD(name) offsetof(struct record_options, name)

static const struct option_spec options[] = {
	{'F', "freq", OPTION_NUMBER, FIELD(freq_hz), "HZ", "samples a second on each CPU (99)", 1,
	 1000000},
	{'d', "duration", OPTION_SECONDS, FIELD(duration_ns), "SEC", "stop after so long", 1,
	 UINT64_MAX},
	{'p', "pid", OPTION_PIDS, FIELD(subject.pids), "PID[,PID...]",
	 "profile these processes and the children they will have, until they end", 0, 0},
	{'a', "all", OPTION_FLAG, FIELD(subject.system_wide), NULL,
	 "profile the whole system, also where a command is given", 0, 0},
	{'o', "output", OPTION_STRINGS, FIELD(outputs), "FILE",
	 ".jitbpf, .folded, .html, .json.gz (Firefox Profiler), .pb.gz (pprof), "
	 ".speedscope.json or .txt (script), may be given several times "
	 "(profile.jitbpf)",
	 0, 0},
	{0, "user-regs", OPTION_FLAG, FIELD(user_regs), NULL,
	 "record the user registers with every sample", 0, 0},
	{0, "code-ring", OPTION_SIZE, FIELD(code_ring_bytes), "SIZE",
	 "room for JIT records on their way (16M)", 4096, 1u << 30},
	{0, "sample-ring", OPTION_SIZE, FIELD(sample_ring_bytes), "SIZE",
	 "room for samples on their way, of each CPU (2M)", 4096, 1u << 30},
	{0, "shim", OPTION_STRING, FIELD(shim), "FILE",
	 "the libjitbpf.so to use (the one beside this program)", 0, 0},
	{0, "no-env", OPTION_FLAG, FIELD(no_env), NULL,
	 "leave the command's environment alone (else it is that of 'jitbpf env')", 0, 0},
	{0, "no-debuginfod", OPTION_FLAG, FIELD(no_debuginfod), NULL,
	 "ask no server for debug info, whatever $DEBUGINFOD_URLS says", 0, 0},
	LINE_RULES_OPTION(FIELD(line_offsets)),
	{'q', "quiet", OPTION_FLAG, FIELD(quiet), NULL, "no summary at the end", 0, 0},
};

/* All that a recording holds while it runs. */
struct recording {
	const struct record_options *options;
	struct probe_site site;
	struct file_store *files;
	struct symbolizer *symbolizer;
	struct symbol_worker *worker;
	struct symbol_service symbols;
	struct pipeline *pipeline;
	struct live_source *live;
	struct source source;
	struct outputs outputs;
	struct recorder *recorder;
	struct subject subject;
	bool unsupported; /* by this machine, or for this user */
	bool misused;	  /* it was called wrongly */
	struct stop_signals signals;
	struct status_line status;
};

static int complain(int err, const char *what)
{
	fprintf(stderr, "jitbpf: %s: %s\n", what, strerror(-err));
	return err;
}

static int open_outputs(struct recording *run)
{
	int err = 0;

	vec_for_each (path, &run->options->outputs)
		err = err ?: outputs_add(&run->outputs, *path, NULL);
	if (!run->options->outputs.size)
		err = outputs_add(&run->outputs, "profile" RECORDING_EXTENSION, NULL);
	run->misused = err == -EINVAL;
	return err;
}

static int set_info(struct recording *run)
{
	AUTO_FREE char *command = subject_line(&run->options->subject);
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
	};
	FILE *recording = outputs_recording(&run->outputs);
	int err;

	if (!command)
		return -ENOMEM;
	uname(&machine);
	err = pipeline_set_info(run->pipeline, &info);
	if (!err && recording)
		err = recorder_create(recording, &info, &run->recorder);
	return err;
}

/* Behind the live source, which knows the kernel's names. */
static int build_stages(struct recording *run)
{
	struct naming_progress naming;
	struct kernel_source kernel;
	struct file_source files;
	int err;

	file_store_source(run->files, &files);
	err = symbolizer_create(&files, &run->symbolizer);
	if (err)
		return err;
	if (run->options->view.no_demangle)
		symbolizer_set_no_demangle(run->symbolizer);
	live_source_init_kernel_source(run->live, &kernel);
	symbolizer_set_kernel_source(run->symbolizer, &kernel);
	err = symbol_worker_create(run->symbolizer, &run->worker, &run->symbols);
	if (err)
		return err;
	status_line_init_naming(&run->status, &naming);
	symbol_worker_set_progress(run->worker, &naming);
	err = pipeline_create(&(struct pipeline_options){.symbols = &run->symbols,
							 .view = &run->options->view,
							 .line_rules = &run->options->line_rules},
			      &run->pipeline);
	err = err ?: outputs_attach(&run->outputs, run->pipeline);
	if (!err && !run->options->quiet)
		err = pipeline_add_sink(run->pipeline, &sink_summary, stderr);
	return err;
}

static int find_shim(struct recording *run)
{
	int err = probe_site_find(run->options->shim, &run->site);

	if (err == -ENOENT && !run->options->shim)
		fprintf(stderr,
			"jitbpf: libjitbpf.so is not beside this program: build it, or say where "
			"it is with --shim\n");
	else if (err == -ENOEXEC)
		fprintf(stderr, "jitbpf: %s: has no jitbpf:event probe\n",
			run->options->shim ?: "libjitbpf.so");
	else if (err)
		complain(err, run->options->shim ?: "libjitbpf.so");
	return err;
}

static int open_live(struct recording *run)
{
	const struct record_options *options_ = run->options;
	struct live_options live = {
		.freq_hz = options_->freq_hz,
		.only_tracked = subject_is_some(&options_->subject),
		.user_regs = options_->user_regs,
		.code_ring_bytes = options_->code_ring_bytes,
		.sample_ring_bytes = options_->sample_ring_bytes,
	};
	struct live_failure failure;
	int err = live_source_create(&live, &run->site, run->files, &run->live, &failure);

	if (err) {
		run->unsupported = failure.unsupported;
		fprintf(stderr, "jitbpf: %s\n", failure.what);
		return err;
	}
	live_source_init_source(run->live, &run->source);
	return subject_follow_processes(&run->subject, run->live);
}

static int prepare_command(struct recording *run)
{
	const struct command_environment environment = {
		.shim_path = run->options->no_env ? NULL : run->site.path,
		.open_files = run->options->open_files,
		.on_pipe = run->signals.before_pipe,
	};

	return subject_prepare_command(&run->subject, &environment, run->live);
}

/* Drain once. Returns an enum source_state, or negative errno, which has been said. */
static int round_once(struct recording *run)
{
	int state = pipeline_round(run->pipeline, &run->source, run->recorder);

	return state < 0 ? complain(state, "recording") : state;
}

static int start(struct recording *run)
{
	struct live_failure failure;
	int err;

	while (!live_source_ready(run->live)) {
		err = round_once(run);
		if (err < 0)
			return err;
	}
	err = live_source_start(run->live, &failure);
	if (err) {
		run->unsupported = failure.unsupported;
		fprintf(stderr, "jitbpf: %s\n", failure.what);
		return err;
	}
	err = subject_go(&run->subject);
	if (err)
		return err;
	/* Until now it could have failed, and what was there before would have stayed. */
	outputs_begin_recording(&run->outputs);
	return 0;
}

static int record_until_told(struct recording *run)
{
	uint64_t start_ns = clock_now_ns(), end_ns = UINT64_MAX, now_ns;
	struct pollfd waiting[] = {
		{.fd = run->signals.fd, .events = POLLIN},
		{.fd = live_source_fd(run->live), .events = POLLIN},
		{.fd = subject_fd(&run->subject), .events = POLLIN},
	};
	int state;

	if (run->options->duration_ns)
		end_ns = start_ns + run->options->duration_ns;
	status_line_init(&run->status);
	while ((now_ns = clock_now_ns()) < end_ns) {
		uint64_t left_ms = (end_ns - now_ns + 999999) / 1000000;

		poll(waiting, ARRAY_SIZE(waiting),
		     left_ms < LIVE_ROUND_MS ? (int)left_ms : LIVE_ROUND_MS);
		state = round_once(run);
		if (state < 0)
			return state;
		if (pipeline_recorder_error(run->pipeline)) {
			status_line_clear(&run->status);
			outputs_check(&run->outputs);
		}
		if (waiting[0].revents || subject_ended(&run->subject))
			break;
		if (status_line_due(&run->status)) {
			struct pipeline_progress progress = pipeline_progress(run->pipeline);

			status_line_say_progress(&run->status, &progress,
						 live_source_lost(run->live));
		}
	}
	status_line_clear(&run->status);
	return 0;
}

/* What is left in the rings, names, files. */
static int finish(struct recording *run)
{
	int state, err;

	live_source_stop(run->live);
	stop_signals_release(&run->signals);
	while ((state = round_once(run)) > 0)
		poll(NULL, 0, 1); /* somebody has to get on with what he has begun */
	if (state < 0)
		return state;
	err = pipeline_finish(run->pipeline);
	status_line_clear(&run->status);
	if (err)
		return complain(err, "naming");
	file_trouble_say(run->files);
	err = pipeline_recorder_error(run->pipeline);
	if (!err && run->recorder)
		err = recorder_finish(run->recorder, pipeline_view(run->pipeline),
				      pipeline_modules(run->pipeline));
	if (err && !outputs_check(&run->outputs))
		complain(err, "writing the recording");
	err = outputs_write(&run->outputs, run->pipeline, &run->status) ?: err;
	if (!run->options->quiet)
		err = pipeline_write(run->pipeline, stderr) ?: err;
	return err;
}

static int record_all(struct recording *run)
{
	const struct file_store_options files = {
		.live = true,
		.debuginfod = !run->options->no_debuginfod,
	};
	int err;

	err = find_shim(run);
	err = err ?: open_outputs(run);
	if (err)
		return err;
	/* Not before: whoever opens a FIFO waits for its reader, and may be sick of it. */
	err = stop_signals_init(&run->signals);
	err = err ?: file_store_create(&files, &run->files);
	if (err)
		return complain(err, "starting");
	err = open_live(run);
	if (err)
		return err;
	err = build_stages(run);
	if (err)
		return complain(err, "starting");
	err = prepare_command(run);
	if (err)
		return err;
	err = set_info(run);
	if (err)
		return complain(err, "writing the recording");
	err = start(run);
	err = err ?: record_until_told(run);
	return err ?: finish(run);
}

static void release(struct recording *run)
{
	recorder_destroy(run->recorder);
	/* It may be looking at a module of the pipeline's, or asking the live source's program. */
	symbol_worker_destroy(run->worker);
	pipeline_destroy(run->pipeline);
	symbolizer_destroy(run->symbolizer);
	live_source_destroy(run->live);
	file_store_destroy(run->files);
}

/* Returns the status to exit with. */
static int record(const struct record_options *values)
{
	struct recording run = {
		.options = values,
		.subject.options = &values->subject,
		.signals.fd = -1,
	};
	int err = record_all(&run), status = err ? 1 : 0;

	if (run.unsupported)
		status = EXIT_UNSUPPORTED;
	if (run.misused)
		status = EXIT_USAGE;
	stop_signals_release(&run.signals); /* the command may take its time to end */
	err = outputs_close(&run.outputs);
	if (err)
		status = 1;
	status = subject_end(&run.subject, status);
	release(&run);
	return status;
}

/* Can it be done? Returns OPTIONS_OK, or the status to exit with. */
static int check(const struct record_options *values)
{
	char missing[256];

	if (values->subject.pids.size && (values->subject.command || values->subject.system_wide)) {
		fprintf(stderr, "jitbpf record: -p goes neither with -a nor with a command\n");
		return EXIT_USAGE;
	}
	if (requirements_missing(missing, sizeof(missing))) {
		fprintf(stderr, "jitbpf: %s\n", missing);
		return EXIT_UNSUPPORTED;
	}
	return OPTIONS_OK;
}

static int run_record(const struct command_spec *spec, int argc, char **argv)
{
	struct record_options values = {
		.freq_hz = 99,
		.code_ring_bytes = 16u << 20,
		.sample_ring_bytes = 2u << 20,
	};
	int operand, status = options_parse(spec, argc, argv, &values, &operand);

	if (status == OPTIONS_OK && operand < argc)
		values.subject.command = argv + operand;
	if (status == OPTIONS_OK)
		status = check(&values);
	if (status == OPTIONS_OK && line_rules_init(&values.line_offsets, &values.line_rules))
		status = OPTIONS_BAD;
	if (status == OPTIONS_OK) {
		/* A few for each CPU, and the files that code comes from. */
		getrlimit(RLIMIT_NOFILE, &values.open_files);
		setrlimit(RLIMIT_NOFILE,
			  &(struct rlimit){values.open_files.rlim_max, values.open_files.rlim_max});
		mallopt(M_MMAP_THRESHOLD, LARGE_PIECE_BYTES);
		status = record(&values);
	}
	line_rules_deinit(&values.line_rules);
	options_release(spec, &values);
	return status;
}

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
