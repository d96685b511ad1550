/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* jitbpf annotate: the machine code and source lines of a function, with their samples. */
#include <stdint.h>
#include <stdio.h>

#include "agent/files/sources/source_files.h"
#include "base/text.h"
#include "cli/annotate_run.h"
#include "cli/commands.h"
#include "cli/memory_limit.h"
#include "cli/options/event_options.h"
#include "cli/options/memory_option.h"
#include "run/messages/say.h"
#include "run/outputs/output_access.h"
#include "run/outputs/outputs.h"

static const char *const format_names[] = {"text", "json", NULL};
static const char *const style_names[] = {"att", "intel", NULL};

#define FIELD(name) offsetof(struct annotate_options, name)

static const struct option_spec options[] = {
	{'f', "format", OPTION_CHOICE, FIELD(format), "FORMAT",
	 "format of the output (default: text)", .choices = format_names},
	{'o', "output", OPTION_STRING, FIELD(output), "FILE",
	 "write to FILE instead of standard output", .candidates = CANDIDATES_FILES},
	{'d', "dso", OPTION_STRING, FIELD(module), "TEXT",
	 "only functions in files and modules whose path contains TEXT"},
	{'g', "generation", OPTION_NUMBER, FIELD(generation), "N",
	 "only the Nth piece of code of the function (default: all with at least 1 % of its samples)",
	 1, UINT32_MAX},
	{0, "lines", OPTION_FLAG, FIELD(lines), .help = "source lines only, without instructions"},
	{0, "asm", OPTION_FLAG, FIELD(assembly), .help = "instructions only, without lines"},
	{0, "all", OPTION_FLAG, FIELD(all),
	 .help = "all instructions, not only those near samples"},
	{'M', "disassembler-style", OPTION_CHOICE, FIELD(style), "STYLE",
	 "syntax of instructions (default: att)", .choices = style_names},
	{0, "source", OPTION_STRINGS, FIELD(folders), "DIR",
	 "search source files in DIR, too, by the ends of their paths (may be repeated)",
	 .candidates = CANDIDATES_FILES},
	{0, "no-debuginfod", OPTION_FLAG, FIELD(no_debuginfod), NULL,
	 "do not query the servers in $DEBUGINFOD_URLS for debug info"},
	MEMORY_OPTION_OF_READER(FIELD(memory_bytes)),
	LINE_RULES_OPTION(FIELD(line_offsets)),
};

/* Returns the exit status. */
static int annotate(const struct annotate_options *values, const char *name, const char *path)
{
	const struct sample_filter filter = filter_options_filter(&values->filter);
	const struct output_paths declared = {.paths = &values->output, .count = 1};
	struct annotate_run run = {.options = values, .name = name};
	struct outputs outputs = {0};
	struct output_access access;
	int err = output_access_init(&access, &declared);

	outputs.opener = access.opener;
	if (!err && !values->assembly && values->format == FORMAT_TEXT)
		err = source_reader_create(&access.user, &run.reader);
	err = err
		      ?: replay_open(&run.replay, path, &filter, &values->view, &values->line_rules,
				     !values->no_debuginfod, &(struct replay_code){0},
				     values->memory_bytes ?: memory_of_reader(1));
	err = err ?: outputs_add_file(&outputs, values->output, &run.out);
	err = err ?: annotate_run(&run);
	if (!err)
		outputs_keep(&outputs);
	err = outputs_close(&outputs) ?: err;
	source_reader_destroy(run.reader);
	annotate_run_deinit(&run);
	output_access_deinit(&access);
	replay_close(&run.replay);
	return err || run.replay.damaged;
}

/*
 * Put the operands in the order FUNCTION [RECORDING]. The recording may come first if only this
 * operand has the extension of recordings. Returns false after a message if the operands are wrong.
 */
static bool order_operands(char **operands, int count)
{
	bool first = count && ends_with(operands[0], RECORDING_EXTENSION);

	if (first && count == 2 && !ends_with(operands[1], RECORDING_EXTENSION)) {
		char *recording = operands[0];

		operands[0] = operands[1];
		operands[1] = recording;
		return true;
	}
	if (first && count == 1)
		say("jitbpf annotate: a function is missing: jitbpf annotate FUNCTION %s; "
		    "'jitbpf report -f top %s' lists those that have samples\n",
		    operands[0], operands[0]);
	else if (count < 1 || count > 2)
		say("jitbpf annotate: expected a function, or a function and a recording "
		    "(see 'jitbpf annotate --help')\n");
	else
		return true;
	return false;
}

static int run_annotate(const struct command_spec *spec, int argc, char **argv)
{
	struct annotate_options values = {0};
	int operand, status = options_parse(spec, argc, argv, &values, &operand);

	if (status == OPTIONS_OK && !order_operands(argv + operand, argc - operand))
		status = EXIT_USAGE;
	if (status == OPTIONS_OK && values.lines && values.assembly) {
		say("jitbpf annotate: --lines and --asm exclude each other\n");
		status = EXIT_USAGE;
	}
	if (status == OPTIONS_OK && line_rules_init(&values.line_offsets, &values.line_rules))
		status = EXIT_USAGE;
	if (status == OPTIONS_OK)
		status = !filter_options_check(&values.filter)
				 ? EXIT_USAGE
				 : annotate(&values, argv[operand],
					    argc - operand > 1 ? argv[operand + 1]
							       : RECORDING_DEFAULT);
	line_rules_deinit(&values.line_rules);
	options_release(spec, &values);
	return status;
}

const struct command_spec command_annotate = {
	.name = "annotate",
	.usage = "[options] FUNCTION [RECORDING]",
	.summary = "show the instructions and source lines of a function, with their samples",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = {{&shown_event_option_table, offsetof(struct annotate_options, view)},
		   {&filter_option_table, offsetof(struct annotate_options, filter)},
		   {&view_option_table, offsetof(struct annotate_options, view)}},
	.operands = CANDIDATES_FUNCTIONS,
	.run = run_annotate,
};
