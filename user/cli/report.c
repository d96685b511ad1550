/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* jitbpf report: show a recording. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/embedded_code.h"
#include "cli/memory_limit.h"
#include "cli/options/event_options.h"
#include "cli/options/filter_options.h"
#include "cli/options/line_rules.h"
#include "cli/options/memory_option.h"
#include "cli/options/view_options.h"
#include "cli/replay.h"
#include "run/messages/say.h"
#include "run/messages/terminal.h"
#include "run/no_samples.h"
#include "run/outputs/outputs.h"
#include "run/unnamed_packages.h"

struct report_options {
	const char *format;
	bool json;
	string_list outputs;
	struct filter_options filter;
	struct view_options view;
	uint32_t rows; /* 0: all */
	bool code;
	string_list folders; /* of source files */
	bool no_debuginfod;
	bool no_packages;
	uint64_t memory_bytes;
	string_list line_offsets;
	struct code_line_rules line_rules;
};

static const struct option_spec options[] = {
	{'f', "format", OPTION_STRING, offsetof(struct report_options, format), "FORMAT",
	 "firefox, folded, html, json, pprof, script, speedscope, summary or top "
	 "(default: by the extension of -o, else summary)",
	 0, 0, .candidates = CANDIDATES_FORMATS},
	{0, "json", OPTION_FLAG, offsetof(struct report_options, json), NULL,
	 "write the summary as JSON", 0, 0},
	{'o', "output", OPTION_STRINGS, offsetof(struct report_options, outputs), "FILE",
	 "write to FILE instead of standard output; may be repeated: each extension says its "
	 "format, and -f that of -o -",
	 0, 0, .candidates = CANDIDATES_OUTPUTS},
	{0, "rows", OPTION_NUMBER, offsetof(struct report_options, rows), "N",
	 "top: number of functions, and of rows of the tree; 0 for all (default 30)", 0,
	 UINT32_MAX - 1},
	{0, "sort", OPTION_CHOICE, offsetof(struct report_options, view.sort), "self|total",
	 "top: order of the functions", .choices = view_sort_names},
	{0, "width", OPTION_NUMBER, offsetof(struct report_options, view.columns), "COLUMNS",
	 "summary, top: width of the rows (default: that of the terminal; of a file or pipe: no limit)",
	 60, 10000},
	{0, "code", OPTION_FLAG, offsetof(struct report_options, code), NULL,
	 "html: the page has the machine code and the source lines of the functions with most "
	 "samples, which whoever gets the page can read; of source files outside of --source, only "
	 "those that everybody may read",
	 0, 0},
	{0, "source", OPTION_STRINGS, offsetof(struct report_options, folders), "DIR",
	 "with --code: search source files in DIR, too, by the ends of their paths (may be "
	 "repeated)",
	 .candidates = CANDIDATES_FILES},
	{0, "no-debuginfod", OPTION_FLAG, offsetof(struct report_options, no_debuginfod), NULL,
	 "do not query the servers in $DEBUGINFOD_URLS for debug info"},
	{0, "no-packages", OPTION_FLAG, offsetof(struct report_options, no_packages), NULL,
	 "do not look up which packages files without names of functions come from"},
	MEMORY_OPTION_OF_READER(offsetof(struct report_options, memory_bytes)),
	LINE_RULES_OPTION(offsetof(struct report_options, line_offsets)),
};

/* If the recording is damaged, the part before the damage is shown. */
static int show(const struct report_options *values, struct replay *replay, struct outputs *outputs)
{
	CLEANUP(file_packages_deinit) struct file_packages packages = {0};
	int err = outputs_attach(outputs, replay->pipeline);

	err = err ?: replay_run(replay);
	if (!err && !values->no_packages)
		unnamed_packages_find(replay->pipeline, replay->files, outputs, false, &packages);
	return err ?: outputs_write(outputs, replay->pipeline, &replay->status);
}

/* Without a terminal, names are not cut, and there are no colours without --color=always. */
static void fit_terminal(struct report_options *values)
{
	bool standard = !values->outputs.size;

	vec_for_each (path, &values->outputs)
		standard |= outputs_is_standard(*path);
	values->view.rows = values->rows ?: TOP_ROWS_ALL;
	values->view.colours =
		terminal_has_colours(standard ? STDOUT_FILENO : -1, values->view.color);
	if (standard && !values->view.columns)
		values->view.columns = terminal_columns(STDOUT_FILENO);
}

/* Returns 0, or -EINVAL after a message. */
static int check_format(const struct report_options *values, const struct outputs *outputs)
{
	bool has_code = !values->code && !values->folders.size;

	vec_for_each (output, &outputs->files)
		has_code |= output->sink == &sink_html;
	if (has_code)
		return 0;
	say("jitbpf report: --code and --source are for .html, not for -f %s\n",
	    outputs->files.data[0].sink->name);
	return -EINVAL;
}

/* Open all outputs. Prints a message on errors. Returns 0 or a negative errno. */
static int add_outputs(const struct report_options *values, struct outputs *outputs)
{
	const char *name = values->json ? "json" : values->format;
	int err = 0;

	if (!values->outputs.size)
		err = outputs_add(outputs, NULL, name ?: "summary");
	vec_for_each (path, &values->outputs) {
		bool standard = outputs_is_standard(*path);
		const char *format = standard			 ? name ?: "summary"
				     : values->outputs.size == 1 ? name
								 : NULL;

		err = err ?: outputs_add(outputs, *path, format);
	}
	return err ?: check_format(values, outputs);
}

/* Returns the exit status. */
static int report(const struct report_options *values, const char *path)
{
	const struct sample_filter filter = filter_options_filter(&values->filter);
	const struct output_paths declared = {.paths = values->outputs.data,
					      .count = values->outputs.size};
	struct output_access access;
	struct outputs outputs = {.no_recordings = true};
	struct replay replay = {0};
	struct embedded_code code = {0};
	bool misused = false;
	int err;

	err = output_access_init(&access, &declared);
	outputs.opener = access.opener;
	if (!err && values->code)
		err = embedded_code_init(&code, &access.user, &values->folders);
	err = err
		      ?: replay_open(&replay, path, &filter, &values->view, &values->line_rules,
				     !values->no_debuginfod, values->code ? &code.replay : NULL,
				     values->memory_bytes ?: memory_of_reader(1));
	if (!err) {
		err = add_outputs(values, &outputs);
		misused = err == -EINVAL;
	}
	if (!err && values->code)
		err = embedded_code_attach(&code, &replay);
	if (!err)
		err = show(values, &replay, &outputs);
	if (!err && values->code)
		embedded_code_say(&code);
	if (!err)
		no_samples_say_shown(pipeline_shown_view(replay.pipeline), &filter, path);
	err = outputs_close(&outputs) ?: err;
	output_access_deinit(&access);
	embedded_code_deinit(&code);
	replay_close(&replay);
	return misused ? EXIT_USAGE : err || replay.damaged;
}

/* Returns false after a message if several outputs do not fit together. */
static bool check_outputs(const struct report_options *values)
{
	size_t standard = 0;

	vec_for_each (path, &values->outputs)
		standard += outputs_is_standard(*path);
	if (standard > 1)
		say("jitbpf report: standard output is given twice as an output\n");
	else if ((standard || !values->outputs.size) &&
		 !outputs_fit_terminal("report", values->json ? NULL : values->format))
		return false;
	else if (values->outputs.size > 1 && !standard && (values->format || values->json))
		say("jitbpf report: with several -o, %s is the format of standard output "
		    "(-o -): that of a file is its extension\n",
		    values->json ? "--json" : "-f");
	else
		return true;
	return false;
}

/* Returns false after a message if the options contradict each other. */
static bool check(const struct report_options *values)
{
	if (values->json && values->format && strcmp(values->format, "summary") &&
	    strcmp(values->format, "json")) {
		say("jitbpf report: --json is for the summary, not for -f %s\n", values->format);
		return false;
	}
	return check_outputs(values) && filter_options_check(&values->filter);
}

static int run(const struct command_spec *spec, int argc, char **argv)
{
	struct report_options values = {.rows = TOP_ROWS_DEFAULT};
	int operand, status = options_parse(spec, argc, argv, &values, &operand);

	if (status == OPTIONS_OK && argc - operand > 1) {
		say("jitbpf report: expected one recording, and got %d (see 'jitbpf "
		    "report --help')\n",
		    argc - operand);
		status = EXIT_USAGE;
	}
	if (status == OPTIONS_OK && line_rules_init(&values.line_offsets, &values.line_rules))
		status = EXIT_USAGE;
	if (status == OPTIONS_OK)
		fit_terminal(&values);
	if (status == OPTIONS_OK)
		status = !check(&values) ? EXIT_USAGE
					 : report(&values, operand < argc ? argv[operand]
									  : RECORDING_DEFAULT);
	line_rules_deinit(&values.line_rules);
	options_release(spec, &values);
	return status;
}

const struct command_spec command_report = {
	.name = "report",
	.usage = "[options] [RECORDING]",
	.operands = CANDIDATES_RECORDINGS,
	.summary = "show a recording (default " RECORDING_DEFAULT
		   "): as a flame graph, a table, folded stacks, a script or a summary",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = {{&shown_event_option_table, offsetof(struct report_options, view)},
		   {&filter_option_table, offsetof(struct report_options, filter)},
		   {&view_option_table, offsetof(struct report_options, view)},
		   {&script_option_table, offsetof(struct report_options, view)}},
	.run = run,
};
