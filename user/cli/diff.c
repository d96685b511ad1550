/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* jitbpf diff: what changed from one recording to another. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/memory_limit.h"
#include "cli/options/event_options.h"
#include "cli/options/filter_options.h"
#include "cli/options/memory_option.h"
#include "cli/options/view_options.h"
#include "cli/replay.h"
#include "run/messages/say.h"
#include "run/messages/terminal.h"
#include "run/outputs/outputs.h"
#include "sink/diff/frame_diff.h"

#define ROWS_DEFAULT 30

struct diff_options {
	const char *format;
	const char *output;
	bool normalize;
	bool strip_hex;
	uint32_t rows;
	uint64_t memory_bytes;
	struct filter_options filter;
	struct view_options view;
};

static const struct option_spec options[] = {
	{'f', "format", OPTION_STRING, offsetof(struct diff_options, format), "FORMAT",
	 "table, folded or html (default: by the extension of -o, else table)", 0, 0,
	 .candidates = CANDIDATES_WORDS,
	 .words = (const char *const[]){"table", "folded", "html", NULL}},
	{'o', "output", OPTION_STRING, offsetof(struct diff_options, output), "FILE",
	 "write to FILE instead of standard output", 0, 0, .candidates = CANDIDATES_OUTPUTS,
	 .words = (const char *const[]){".txt", ".folded", ".html", NULL}},
	{0, "rows", OPTION_NUMBER, offsetof(struct diff_options, rows), "N",
	 "number of functions in the table, 0 for all (default 30)", 0, UINT32_MAX},
	{'n', "normalize", OPTION_FLAG, offsetof(struct diff_options, normalize), NULL,
	 "folded: scale the counts of BEFORE to the total of AFTER", 0, 0},
	{'x', "strip-hex", OPTION_FLAG, offsetof(struct diff_options, strip_hex), NULL,
	 "treat names as equal that differ only in numbers like 0x7f00", 0, 0},
	MEMORY_OPTION_OF_READER(offsetof(struct diff_options, memory_bytes)),
};

/* State of a run. */
struct run {
	const struct diff_options *options;
	struct replay sides[DIFF_SIDES];
	struct frame_diff *diff;
	FILE *out;
};

static const struct view *view_of(const struct run *run, enum frame_diff_side side)
{
	return pipeline_shown_view(run->sides[side].pipeline);
}

static int write_table(struct run *run)
{
	return frame_diff_write_table(run->out, run->diff, view_of(run, DIFF_BEFORE),
				      view_of(run, DIFF_AFTER), run->options->rows);
}

static int write_html(struct run *run)
{
	return frame_diff_write_html(run->out, run->diff, view_of(run, DIFF_BEFORE),
				     view_of(run, DIFF_AFTER));
}

static int write_folded(struct run *run)
{
	return frame_diff_write_folded(run->out, run->diff, run->options->normalize);
}

static const struct format {
	const char *name, *extension;
	int (*write)(struct run *run);
} formats[] = {
	{"table", ".txt", write_table},
	{"folded", ".folded", write_folded},
	{"html", ".html", write_html},
};

/*
 * Choose the format by --format, or else by the extension of -o. Returns NULL
 * after a message if there is no such format.
 */
static const struct format *choose_format(const struct diff_options *values)
{
	const char *path = values->output;

	if (!values->format && !path)
		return &formats[0];
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (values->format ? !strcmp(values->format, formats[i].name)
				   : ends_with(path, formats[i].extension))
			return &formats[i];
	}
	say("jitbpf diff: unknown format '%s': use one of", values->format ?: path);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		say("%s %s", i ? "," : "", values->format ? formats[i].name : formats[i].extension);
	say("\n");
	return NULL;
}

static int make(struct run *run, const struct format *format)
{
	int err = 0;

	for (int side = 0; side < DIFF_SIDES && !err; side++)
		err = replay_run(&run->sides[side]);
	if (err)
		return err;
	err = frame_diff_create(view_of(run, DIFF_BEFORE), view_of(run, DIFF_AFTER),
				run->options->strip_hex, &run->diff);
	err = err ?: format->write(run);
	if (err == -ENOMEM)
		memory_limit_say();
	return err;
}

static int diff(const struct diff_options *values, const struct format *format, char **paths)
{
	const struct sample_filter filter = filter_options_filter(&values->filter);
	const struct output_paths declared = {.paths = &values->output, .count = 1};
	struct output_access access;
	struct outputs outputs = {0};
	struct run run = {.options = values};
	bool damaged;
	int err = output_access_init(&access, &declared);

	outputs.opener = access.opener;
	for (int side = 0; side < DIFF_SIDES && !err; side++) {
		err = replay_open(&run.sides[side], paths[side], &filter, &values->view, NULL,
				  false, NULL,
				  values->memory_bytes ?: memory_of_reader(DIFF_SIDES));
		if (!err)
			pipeline_leave_memory(run.sides[side].pipeline, FRAME_DIFF_PROFILE_TIMES);
	}
	if (!err)
		err = outputs_add_file(&outputs, values->output, &run.out);
	if (!err)
		err = make(&run, format);
	if (!err)
		outputs_keep(&outputs);
	err = outputs_close(&outputs) ?: err;
	output_access_deinit(&access);
	damaged = run.sides[DIFF_BEFORE].damaged || run.sides[DIFF_AFTER].damaged;
	frame_diff_destroy(run.diff);
	for (int side = 0; side < DIFF_SIDES; side++)
		replay_close(&run.sides[side]);
	return err || damaged ? -EIO : 0;
}

static int run_diff(const struct command_spec *spec, int argc, char **argv)
{
	struct diff_options values = {.rows = ROWS_DEFAULT};
	const struct format *format;
	int operand, status = options_parse(spec, argc, argv, &values, &operand);

	if (status == OPTIONS_OK && argc - operand != 2) {
		say("jitbpf diff: expected two recordings (see 'jitbpf diff --help')\n");
		status = EXIT_USAGE;
	}
	if (status == OPTIONS_OK) {
		values.view.colours = terminal_has_colours(
			outputs_is_standard(values.output) ? STDOUT_FILENO : -1, values.view.color);
		format = choose_format(&values);
		if (format && !filter_options_check(&values.filter))
			format = NULL;
		status = !format ? EXIT_USAGE : diff(&values, format, argv + operand) ? 1 : 0;
	}
	options_release(spec, &values);
	return status;
}

const struct command_spec command_diff = {
	.name = "diff",
	.usage = "[options] BEFORE AFTER",
	.operands = CANDIDATES_RECORDINGS,
	.summary = "compare two recordings: the functions whose share changed most",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = {{&shown_event_option_table, offsetof(struct diff_options, view)},
		   {&filter_option_table, offsetof(struct diff_options, filter)},
		   {&view_option_table, offsetof(struct diff_options, view)}},
	.run = run_diff,
};
