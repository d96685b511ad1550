/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* jitbpf record, live and top: their options, and which of them exclude each other. */
#include <malloc.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "agent/machine/cgroups.h"
#include "agent/machine/machine_check.h"
#include "agent/machine/memory_limit.h"
#include "base/scope.h"
#include "base/text.h"
#include "cli/choose.h"
#include "cli/commands.h"
#include "cli/memory_limit.h"
#include "cli/options/engine_env_options.h"
#include "cli/options/event_options.h"
#include "cli/options/line_rules.h"
#include "cli/options/memory_option.h"
#include "cli/options/rotation_value.h"
#include "cli/options/view_options.h"
#include "run/messages/say.h"
#include "run/run.h"
#include "run/top_screen.h"
#include "sink/write/text.h"

/*
 * Larger allocations are returned to the system when they are freed: symbols
 * are read in large, short-lived buffers.
 */
#define LARGE_PIECE_BYTES (256 << 10)

#define SLOW_HZ 250 /* up to this rate, half of a ring is enough */

#define FIELD(name) offsetof(struct run_options, name)

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
	 "profile only processes of this user, by name or number (may be repeated)", 0, 0,
	 .candidates = CANDIDATES_USERS},
	{'G', "cgroup", OPTION_STRINGS, FIELD(target.choose.cgroups), "CGROUP",
	 "profile only processes while they are in this cgroup or below it: a path, or the name of "
	 "a systemd unit (needs cgroup version 2; may be repeated)",
	 0, 0, .candidates = CANDIDATES_CGROUPS},
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
	 "firefox, folded, html, json, pprof, script, speedscope, summary or top: the format of the "
	 "only -o, or with several that of -o -, beside which the command's own output goes to "
	 "standard error (default: by the extension of -o)",
	 0, 0, .candidates = CANDIDATES_FORMATS},
	{0, "rotate", OPTION_STRING, FIELD(rotation.rotate), "TIME|SIZE",
	 "begin a new recording after TIME (60, 10m, 1h), or when SIZE (1M, 2G) is reached; each "
	 "file is named for its time and can be read alone",
	 0, 0},
	{0, "keep", OPTION_NUMBER, FIELD(rotation.keep), "N",
	 "with --rotate: keep the last N recordings and delete older ones", 1, 1000000},
	{0, "max-size", OPTION_SIZE, FIELD(disk.max_bytes), "SIZE",
	 "end the run when its recording has SIZE; with --rotate: delete the oldest recordings of "
	 "the run, so that all together have at most SIZE; of a live page without such an output: "
	 "keep at most SIZE of what the page can save (default 1G)",
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
	{0, "source", OPTION_STRINGS, FIELD(folders), "DIR",
	 "for the live page's code pane: search source files in DIR, too, by the ends of their "
	 "paths (may be repeated)",
	 .candidates = CANDIDATES_FILES},
	{0, "code", OPTION_FLAG, FIELD(code), NULL,
	 "keep the machine code of sampled JIT code in the recording, for 'jitbpf annotate'", 0, 0},
	{0, "user-regs", OPTION_FLAG, FIELD(user_regs), NULL,
	 "add the user registers to every sample", 0, 0},
	{0, "code-ring", OPTION_SIZE, FIELD(code_ring_bytes), "SIZE",
	 "size of the ring for JIT records (default 8M)", 4096, 1u << 30},
	{0, "sample-ring", OPTION_SIZE, FIELD(sample_ring_bytes), "SIZE",
	 "size of each CPU's ring for samples (default 2M, up to 250 Hz 1M)", 4096, 1u << 30},
	MEMORY_OPTION_OF_RUN(FIELD(memory_bytes)),
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

/* Returns true if one of the outputs is a recording. */
static bool records(const struct run_options *values)
{
	vec_for_each (output, &values->outputs) {
		if (ends_with(*output, RECORDING_EXTENSION))
			return true;
	}
	return !values->outputs.size && !values->only_live;
}

/* Names of containers come from cgroups of version 2. */
static void say_if_no_containers(const struct run_options *values)
{
	AUTO_FREE char *mount = NULL;

	if (values->view.by == VIEW_BY_CONTAINER && cgroups_mount(&mount) == -ENOENT)
		say("jitbpf: --by container: cgroup version 2 is not mounted; where "
		    "only version 1 is used, all processes are in 'host'\n");
}

/* Beside --max-memory: programs, rings and kernel symbols (SECURITY.md). */
#define BESIDE_BYTES (80ull << 20)

/* The kernel ends processes, maybe the recorder, when a limit is reached. */
static void say_if_memory_is_short(const struct run_options *values)
{
	uint64_t limit = memory_limit_bytes(""), needed = values->memory_bytes + BESIDE_BYTES;
	uint64_t left = limit > BESIDE_BYTES ? limit - BESIDE_BYTES : 0;
	CLEANUP(text_deinit) struct text text = {0};

	if (limit >= needed)
		return;
	text_put_string(&text, "jitbpf: the limit of memory is ");
	text_put_bytes(&text, limit, 0);
	text_put_string(&text, " here, and jitbpf may need ");
	text_put_bytes(&text, needed, 0);
	text_put_string(&text, ": the kernel may kill it: raise the limit of its cgroup");
	if (left >= MEMORY_MIN)
		text_printf(&text, ", or use --max-memory %lluM", (unsigned long long)(left >> 20));
	text_put_string(&text, "\n");
	text_write(&text, stderr);
}

/* Returns OPTIONS_OK, or the exit status after a message. */
static int check(struct run_options *values)
{
	char missing[256];
	int status = choice_make(&values->target.choose, &values->target.choice);

	if (status != OPTIONS_OK)
		return status;
	if (values->target.choice.pids.size && values->target.system_wide) {
		say("jitbpf %s: -p with pids cannot be combined with -a: leave one "
		    "out\n",
		    values->name);
		return EXIT_USAGE;
	}
	if (values->rotation.rotate && !rotation_parse(&values->rotation)) {
		say("jitbpf %s: invalid value '%s' for --rotate: expected a duration from 1 s, "
		    "or a size from 1M, such as 60, 10m, 1h or 100M\n",
		    values->name, values->rotation.rotate);
		return EXIT_USAGE;
	}
	if (values->top && values->view.by == VIEW_BY_TID) {
		say("jitbpf top: --by tid is not possible: use --by pid, and T for one "
		    "thread\n");
		return EXIT_USAGE;
	}
	if ((values->port || values->folders.size) && !values->live) {
		say("jitbpf %s: %s needs --live\n", values->name,
		    values->port ? "--port" : "--source");
		return EXIT_USAGE;
	}
	if (values->refresh_ns && values->rotation.rotate) {
		say("jitbpf %s: --refresh cannot be combined with --rotate\n", values->name);
		return EXIT_USAGE;
	}
	if (events_parse(values->name, &values->event_names, &values->events) != OPTIONS_OK ||
	    !events_check_shown(values->name, &values->events, values->view.event))
		return EXIT_USAGE;
	if (values->code && !records(values)) {
		say("jitbpf %s: --code needs a recording: -o FILE.jitbpf\n", values->name);
		return EXIT_USAGE;
	}
	if (values->rotation.keep && !values->rotation.rotate) {
		say("jitbpf %s: --keep needs --rotate\n", values->name);
		return EXIT_USAGE;
	}
	values->rotation.all_bytes = values->disk.max_bytes;
	machine_silence_libbpf();
	if (machine_lacks(missing, sizeof(missing))) {
		say("jitbpf: %s\n", missing);
		return EXIT_UNSUPPORTED;
	}
	return OPTIONS_OK;
}

/* Returns false after a message if standard output cannot have an output, or not in that format. */
static bool check_standard_output(const struct run_options *values)
{
	size_t count = 0;

	vec_for_each (path, &values->outputs)
		count += outputs_is_standard(*path);
	if (count && values->top)
		say("jitbpf top: standard output is its screen: use -o FILE\n");
	else if (count > 1)
		say("jitbpf %s: standard output is given twice as an output\n", values->name);
	else if (count && !values->format)
		say("jitbpf %s: -o - needs a format, such as -f folded, -f script "
		    "or -f json\n",
		    values->name);
	else if (values->format && !values->outputs.size)
		say("jitbpf %s: -f is the format of an output: add -o FILE, or -o - "
		    "for standard output\n",
		    values->name);
	else if (values->format && values->rotation.rotate)
		say("jitbpf %s: -f cannot be combined with --rotate, which writes "
		    "recordings (.jitbpf)\n",
		    values->name);
	else if (values->format && ends_with(values->outputs.data[0], RECORDING_EXTENSION) &&
		 values->outputs.size == 1)
		say("jitbpf %s: %s is the name of a recording, and -f %s another format: "
		    "leave -f out, or use another name\n",
		    values->name, values->outputs.data[0], values->format);
	else if (values->format && !count && values->outputs.size > 1)
		say("jitbpf %s: with several -o, -f is the format of standard output "
		    "(-o -): that of a file is its extension\n",
		    values->name);
	else
		return !count || outputs_fit_terminal(values->name, values->format);
	return false;
}

enum mode { MODE_RECORD, MODE_LIVE, MODE_TOP };

static int run_with(enum mode mode, const struct command_spec *spec, int argc, char **argv)
{
	struct run_options values = {
		.name = spec->name,
		.freq_hz = 99,
		.live = mode == MODE_LIVE,
		.top = mode == MODE_TOP,
		.only_live = mode != MODE_RECORD,
		.disk.min_free_bytes = UINT64_MAX,
		.code_ring_bytes = 8u << 20, /* full after 0.12 s at 200,000 loads per second */
	};
	int operand, status = options_parse(spec, argc, argv, &values, &operand);

	if (status == OPTIONS_OK && operand < argc)
		values.target.command = argv + operand;
	if (!values.sample_ring_bytes) /* rings cost time and memory on each CPU */
		values.sample_ring_bytes = (values.freq_hz > SLOW_HZ ? 2u : 1u) << 20;
	if (!values.memory_bytes)
		values.memory_bytes = memory_of_run();
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
		say_if_memory_is_short(&values);
		status = run_until_end(&values);
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

static const struct option_spec event_options[] = {
	{'e', "event", OPTION_STRINGS, FIELD(event_names), "NAME[:PERIOD][,...]",
	 "also sample page-faults, minor-faults, major-faults, context-switches or cpu-migrations: "
	 "one sample for each PERIOD of them on a CPU (default: 1000 faults, 50 major faults, 500 "
	 "switches, 100 migrations). CPU time is always sampled; a tick of it that meets the taking "
	 "of another sample is left out. Short periods slow the machine down",
	 .candidates = CANDIDATES_WORDS, .words = event_words + 1},
	{0, "show-event", OPTION_STRING, FIELD(view.event), "NAME",
	 "the event that outputs other than recordings show, and a page or screen first (default "
	 "cpu-time; a recording has all: 'jitbpf report -e NAME')",
	 .candidates = CANDIDATES_WORDS, .words = event_words},
};

static const struct option_table event_option_table = {event_options, ARRAY_SIZE(event_options)};

static const struct option_spec top_options[] = {
	{0, "window", OPTION_SECONDS, FIELD(window_ns), "TIME",
	 "show only the samples of the last TIME, such as 10s (default: all; the key w changes it)",
	 1, UINT64_MAX / 2},
	{0, "once", OPTION_FLAG, FIELD(once), NULL,
	 "not supported: prints how to show the same once, as text"},
};

static const struct option_table top_option_table = {top_options, ARRAY_SIZE(top_options)};

const struct command_spec command_top = {
	.name = "top",
	.usage = "[options] [-- COMMAND ARGS...]",
	.summary = "show processes, functions and call trees in the terminal while it happens",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = {{&event_option_table, 0},
		   {&view_option_table, FIELD(view)},
		   {&top_option_table, 0}},
	.takes_command = true,
	.run = run_top,
};

const struct command_spec command_live = {
	.name = "live",
	.usage = "[options] [-- COMMAND ARGS...]",
	.summary = "show the flame graph in a browser while it happens",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = {{&event_option_table, 0},
		   {&view_option_table, FIELD(view)},
		   {&script_option_table, FIELD(view)}},
	.takes_command = true,
	.run = run_live,
};

const struct command_spec command_record = {
	.name = "record",
	.usage = "[options] [-- COMMAND ARGS...]",
	.summary = "profile a command, processes or the whole system",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = {{&event_option_table, 0},
		   {&view_option_table, FIELD(view)},
		   {&script_option_table, FIELD(view)}},
	.takes_command = true,
	.run = run_record,
};
