/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/run_setup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>

#include "agent/clock.h"
#include "agent/files/copied_text.h"
#include "agent/files/helper/file_service.h"
#include "agent/jvm/jvm_load.h"
#include "agent/kernel/probes/attach_service.h"
#include "agent/kernel/proc/process_text.h"
#include "agent/launch/signaller.h"
#include "agent/readers/reader_service.h"
#include "agent/roles/privileges.h"
#include "agent/server/live_server.h"
#include "base/scope.h"
#include "base/text.h"
#include "run/memory_shares.h"
#include "run/messages/say.h"
#include "run/page/live_answers.h"
#include "run/run_outputs.h"

#define NAMING_MS    10000 /* limit for the computing of one location's names */
#define CODE_MS	     5000  /* the same for the instructions of a function */
#define UNWINDING_MS 5000  /* the same for the rows of a page or region */

int run_complain(int err, const char *what)
{
	say("jitbpf: %s: %s\n", what, strerror(-err));
	return err;
}

static struct reader_options reader_options(struct run *run, uint32_t answer_ms)
{
	return (struct reader_options){
		.broker = &run->broker,
		.symbols_bytes = memory_of_symbols(run->options->memory_bytes),
		.answer_ms = answer_ms,
		.no_demangle = run->options->view.no_demangle,
		.failures = &run->readers_failed,
	};
}

static int build_unwinding(struct run *run)
{
	struct reader_options of_rows = reader_options(run, UNWINDING_MS), of_runtimes = of_rows;
	struct unwind_sources rows, runtimes;
	int err;

	file_store_unwind_sources(run->files, &of_rows.files, &rows.memory);
	file_store_runtime_sources(run->files, &of_runtimes.files, &runtimes.memory);
	live_source_init_unwind_tables(run->live, &run->unwind_tables);
	err = rows_reader_create(&of_rows, &run->rows, &rows.maker);
	err = err ?: rows_reader_create(&of_runtimes, &run->runtimes, &runtimes.maker);
	return err
		       ?: unwind_workers_start(&rows, &runtimes, &run->unwind_workers,
					       &run->unwind_service);
}

static int build_code_reader(struct run *run)
{
	struct reader_options reading = reader_options(run, CODE_MS);

	file_store_code_source(run->files, &reading.files);
	return code_reader_create(&reading, &run->code);
}

/* Call it after open_live(): the live source has the kernel's names. */
static int build_stages(struct run *run)
{
	struct reader_options reading = reader_options(run, NAMING_MS);
	struct naming_progress naming;
	struct kernel_source kernel;
	struct symbol_namer namer;
	struct text_source texts;
	int err;

	copied_text_source(run->files, &texts);
	file_store_source(run->files, &reading.files);
	live_source_init_kernel_source(run->live, &kernel);
	err = name_reader_create(&reading, &kernel, &run->names, &namer);
	err = err ?: symbol_worker_create(&namer, &run->worker, &run->symbols);
	if (err)
		return err;
	status_line_init_naming(&run->status, &naming);
	symbol_worker_set_progress(run->worker, &naming);
	err = build_unwinding(run);
	if (run->options->live)
		err = err ?: build_code_reader(run);
	if (err)
		return err;
	err = pipeline_create(
		&(struct pipeline_options){
			.analysis =
				{
					.symbols = &run->symbols,
					.view = &run->options->view,
					.keep_code = run->options->live,
					.only_sampled =
						choice_checks_samples(&run->options->target.choice),
					.no_paths = !run->options->live && !run->options->top &&
						    !outputs_show_paths(&run->outputs),
					.line_rules = &run->options->line_rules,
					.memory_bytes = memory_of_state(run->options->memory_bytes),
					.profile_bytes =
						memory_of_profile(run->options->memory_bytes),
					.joint_memory = true,
					.modules_bytes =
						memory_of_modules(run->options->memory_bytes),
					.samples_bytes =
						memory_of_samples(run->options->memory_bytes),
				},
			.unwind_service = &run->unwind_service,
			.unwind_tables = &run->unwind_tables,
			.texts = &texts,
			.keep_code = run->options->code || run->options->live,
			.code_bytes = run->options->code ? 0 : LIVE_CODE_BYTES_MAX,
			.record_code = run->options->code,
		},
		&run->pipeline);
	err = err ?: outputs_attach(&run->outputs, run->pipeline);
	if (!err && !run->options->quiet && !run->rotation.options)
		err = pipeline_add_sink(run->pipeline, &sink_summary, stderr);
	return err;
}

static int find_shim(struct run *run)
{
	int err = probe_site_find(run->options->shim, &run->site);

	if (err == -ENOENT && !run->options->shim)
		say("jitbpf: libjitbpf.so is missing beside this program: build it, or give its "
		    "path with --shim\n");
	else if (err == -ENOEXEC)
		say("jitbpf: %s is not a jitbpf shim, since it has no probe jitbpf:event: give "
		    "the libjitbpf.so of this version with --shim\n",
		    run->options->shim ?: "libjitbpf.so");
	else if (err)
		run_complain(err, run->options->shim ?: "libjitbpf.so");
	return err;
}

/* The agent stays in a JVM, so a run of the whole system loads it only with --attach-jvms. */
static bool loads_jvm_agents(const struct run_options *options)
{
	const struct target_options *target = &options->target;

	return !options->no_attach_jvms &&
	       (options->attach_jvms || target_is_some(target) ||
		(!target->system_wide && choice_is_wide(&target->choice)));
}

static int open_live(struct run *run)
{
	const struct run_options *options_ = run->options;
	struct live_options live = {
		.broker = &run->broker,
		.freq_hz = options_->freq_hz,
		.events = options_->events,
		.only_tracked = target_is_some(&options_->target),
		.filter = options_->target.choice.filter,
		.user_regs = options_->user_regs,
		.load_jvm_agents = loads_jvm_agents(options_),
		.sampled_jvms_only = choice_is_wide(&options_->target.choice),
		.code_ring_bytes = options_->code_ring_bytes,
		.sample_ring_bytes = options_->sample_ring_bytes,
	};
	struct live_failure failure;
	int err = live_source_create(&live, &run->site, run->files, &run->live, &failure);

	if (err) {
		run->unsupported = failure.unsupported;
		say("jitbpf: %s\n", failure.what);
		return err;
	}
	live_source_init_source(run->live, &run->source);
	return target_follow(&run->target, run->live);
}

static bool launches_with_agent(struct run *run)
{
	return !run->options->no_env && !run->options->no_attach_jvms &&
	       !probe_site_find_jvm_agent(&run->site, &run->jvm_agent);
}

static int prepare_command(struct run *run)
{
	const struct command_environment environment = {
		.broker = &run->broker,
		.user = &run->access.user,
		.shim_path = run->options->no_env ? NULL : run->site.path,
		.choice = run->options->env,
		.jvm_agent = launches_with_agent(run) ? run->jvm_agent.path : NULL,
		.open_files = run->options->open_files,
		.output_to_stderr = run_writes_standard(run->options),
		.no_terminal = run->options->top,
		.on_pipe = run->signals.before_pipe,
	};

	return target_prepare_command(&run->target, &environment);
}

/* Returns true if /proc (hidepid) hides processes that this process may not trace. */
static bool are_processes_hidden(void)
{
	CLEANUP(process_text_deinit) process_text text = {0};
	struct process_stat stat;

	return process_stat_read(&text, 1, &stat);
}

/*
 * Before Linux 5.19, the kernel may ask for CAP_BPF at each access to a map: it is kept if an
 * access fails without it. Call it before a thread is created.
 */
static int drop_privileges(const struct run *run)
{
	uint64_t more = 0;
	int err = privileges_use(0);

	if (!err && live_source_try_maps(run->live) == -EPERM)
		more = PRIVILEGE(CAP_BPF);
	if (!err && are_processes_hidden())
		more |= PRIVILEGE(CAP_SYS_PTRACE);
	return err ?: role_enter(ROLE_RECORDER, more);
}

static const role_fn roles[ROLE_COUNT] = {
	[ROLE_OPENER] = file_service_run,	   [ROLE_USER_OPENER] = file_service_run,
	[ROLE_FETCHER] = file_service_run_fetcher, [ROLE_ATTACHER] = attach_service_run,
	[ROLE_SIGNALLER] = signaller_run,	   [ROLE_LOADER] = jvm_load_run,
	[ROLE_READER] = reader_service_run,	   [ROLE_SERVER] = live_server_run,
};

int run_set_up(struct run *run)
{
	const struct file_store_options files = {
		.live = true,
		.debuginfod = !run->options->no_debuginfod,
		.broker = &run->broker,
		.kept_bytes = memory_of_files(run->options->memory_bytes),
	};
	int err = run->options->live ? live_server_load() : 0;

	if (err)
		return run_complain(err, "loading libmicrohttpd.so.12, for the live page");
	if (run->options->top)
		err = top_screen_prepare(&run->top);
	if (err)
		return err;
	err = broker_start(roles, &run->broker);
	if (err)
		return run_complain(err, "starting");
	if (run->options->live)
		err = live_page_listen(run->options->port, &run->live_page);
	err = err ?: run_outputs_start(run); /* later steps read files of others */
	if (!err && run->options->live)
		err = source_reader_create(&run->access.user, &run->sources);
	err = err ?: find_shim(run);
	err = err ?: run_outputs_open(run);
	err = err ?: self_stats_init(&run->stats, run->options->stats, run->access.opener);
	if (err)
		return err;
	/* Opening a FIFO blocks until it has a reader; Ctrl-C must still work then. */
	err = stop_signals_init(&run->signals);
	err = err ?: file_store_create(&files, &run->files);
	if (err)
		return run_complain(err, "starting");
	err = prepare_command(run); /* with all privileges, which end below */
	err = err ?: open_live(run);
	if (err)
		return err;
	err = drop_privileges(run);
	err = err ?: build_stages(run);
	if (err)
		return run_complain(err, "starting");
	err = run_outputs_begin(run);
	return err ? run_complain(err, "writing the recording") : 0;
}

void run_release(struct run *run)
{
	top_screen_end(run->top);
	refresh_stop(run->refresh, true);
	live_page_end(run->live_page, true);
	rotation_deinit(&run->rotation);
	recorder_destroy(run->recorder);
	page_recording_deinit(&run->page_recording);
	/* The workers may use modules of the pipeline and the live source's BPF program. */
	symbol_worker_destroy(run->worker);
	unwind_workers_stop(&run->unwind_workers);
	rows_reader_destroy(run->rows);
	rows_reader_destroy(run->runtimes);
	pipeline_destroy(run->pipeline);
	file_packages_deinit(&run->packages);
	refresh_destroy(run->refresh);
	live_page_destroy(run->live_page);
	top_screen_destroy(run->top);
	name_reader_destroy(run->names);
	code_reader_destroy(run->code);
	source_reader_destroy(run->sources);
	live_source_destroy(run->live);
	file_store_destroy(run->files);
	if (!broker_stop(&run->broker))
		fprintf(stderr, "jitbpf: jitbpf-broker (process %d) does not end: kill it\n",
			(int)run->broker.pid);
	output_access_deinit(&run->access);
	vec_deinit(&run->declared);
}
