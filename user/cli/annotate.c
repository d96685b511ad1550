/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* jitbpf annotate: the machine code and source lines of a function, with their samples. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/files/file_store.h"
#include "agent/files/sources/source_files.h"
#include "base/scope.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/memory_limit.h"
#include "cli/options/event_options.h"
#include "cli/options/filter_options.h"
#include "cli/options/line_rules.h"
#include "cli/options/memory_option.h"
#include "cli/options/view_options.h"
#include "cli/replay.h"
#include "run/messages/say.h"
#include "run/messages/terminal.h"
#include "run/outputs/outputs.h"
#include "sink/annotate/annotation_output.h"
#include "sink/annotate/code_history.h"
#include "sink/write/text.h"

#define TROUBLES_SHOWN	3
#define PIECES_MAX	1000 /* pieces of a function that are written */
#define PIECES_TEXT_MAX 16   /* the same in text */
#define PIECE_SHARE	100  /* in text, a piece needs this part of the samples: one in 100 */

enum annotate_format { FORMAT_TEXT, FORMAT_JSON };

static const char *const format_names[] = {"text", "json", NULL};
static const char *const style_names[] = {"att", "intel", NULL};

struct annotate_options {
	uint32_t format; /* enum annotate_format */
	const char *output;
	const char *module;
	uint32_t generation; /* 0: all */
	bool lines, assembly, all;
	uint32_t style; /* enum disassembly_style */
	string_list folders;
	struct filter_options filter;
	struct view_options view;
	bool no_debuginfod;
	uint64_t memory_bytes;
	string_list line_offsets;
	struct code_line_rules line_rules;
};

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

/* State of a run. */
struct run {
	const struct annotate_options *options;
	const char *name; /* of the function */
	struct replay replay;
	struct source_reader *reader;
	struct sink *history; /* owned by the pipeline */
	struct function_samples samples;
	function_list list; /* the functions of that name */
	FILE *out;
	struct json json; /* of `out`, from the first piece on */
};

/* --- choosing the function ---------------------------------------------------------------- */

/* Print that no function matches, or which ones do. Returns -ENOENT or -ENOTUNIQ. */
static int say_choice(struct run *run)
{
	CLEANUP(text_deinit) struct text name = {0};

	text_put_name(&name, run->name, 0, 0);
	say("jitbpf annotate: ");
	if (!run->list.size)
		say("no function '%.*s' with machine code or source lines has a sample in %s: "
		    "'jitbpf report -f top' lists the functions that have samples\n",
		    (int)name.bytes.size, name.bytes.data, run->replay.path);
	else
		say("%zu functions match '%.*s': give a whole name, or a part of the "
		    "file's path with -d\n",
		    run->list.size, (int)name.bytes.size, name.bytes.data);
	if (!run->list.size)
		return -ENOENT;
	annotation_write_choice(stderr, &run->samples, &run->list);
	return -ENOTUNIQ;
}

/*
 * Leave out source lines of functions of runtimes, with --asm. Returns 0, or -ENOENT after a
 * message.
 */
static int leave_out_lines(struct run *run)
{
	size_t kept = 0;

	vec_for_each (number, &run->list) {
		if (run->samples.functions.data[*number].kind != LOCATION_RUNTIME)
			run->list.data[kept++] = *number;
	}
	if (!kept && run->list.size) {
		say("jitbpf annotate: the function has no machine code with samples: without "
		    "--asm, its source lines are shown\n");
		return -ENOENT;
	}
	run->list.size = kept;
	return 0;
}

/* List the generations, by the time of their load. Returns 0, or a negative errno after a message.
 */
static int find_generations(struct run *run, struct generation **ret, size_t *ret_shown)
{
	AUTO_FREE struct generation *generations = NULL;
	size_t count = run->list.size, wanted = run->options->generation;
	const struct sampled_function *first;

	if (!count)
		return say_choice(run);
	first = &run->samples.functions.data[run->list.data[0]];
	generations = calloc(count, sizeof(*generations));
	if (!generations)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct sampled_function *function =
			&run->samples.functions.data[run->list.data[i]];

		if (!sampled_function_is_same(first, function))
			return say_choice(run);
		generation_init(&generations[i], pipeline_shown_view(run->replay.pipeline),
				run->history, function);
	}
	if (wanted > count) {
		say("jitbpf annotate: there is no generation %zu: the function has %zu\n", wanted,
		    count);
		return -EINVAL;
	}
	generations_sort(generations, count);
	*ret_shown = wanted ? wanted - 1 : generations_next(generations, count, count);
	*ret = TAKE_PTR(generations);
	return 0;
}

/* --- sources ----------------------------------------------------------------------------- */

/* Print warnings about source files, such as those that are newer than the recording. */
static void say_sources(const struct run *run, const struct source_files *sources)
{
	const struct run_info *info = pipeline_shown_view(run->replay.pipeline)->info;
	size_t said = 0;

	vec_for_each (file, &sources->files) {
		CLEANUP(text_deinit) struct text path = {0};
		bool newer = file->file.changed_ns > info->wall_clock_ns + info->duration_ns;

		if ((!file->error && !newer) || said++ >= TROUBLES_SHOWN)
			continue;
		text_put_name(&path, file->path, 0, 0);
		say("jitbpf: source %.*s", (int)path.bytes.size, path.bytes.data);
		if (!file->error)
			say(": changed after the recording, so its lines may not fit the samples\n");
		else
			say(": %s\n", source_files_words(file->error));
	}
	if (said > TROUBLES_SHOWN)
		say("jitbpf: %zu more source files could not be read, or have changed\n",
		    said - TROUBLES_SHOWN);
	if (sources->left_out)
		say("jitbpf: at most %d source files are read: lines of further files have no "
		    "text\n",
		    SOURCE_FILES_MAX);
}

/* --- writing ------------------------------------------------------------------------------- */

static int write_annotation(struct run *run, const struct annotation *annotation,
			    const struct generation *generations, size_t shown, size_t rank)
{
	const struct annotate_options *values = run->options;
	struct source_files files = {.reader = run->reader,
				     .folders = values->folders.data,
				     .folder_count = values->folders.size};
	const struct source_lines lines = {
		.line = source_files_line, .trouble = source_files_trouble, .context = &files};
	const struct annotation_output output = {
		.view = pipeline_shown_view(run->replay.pipeline),
		.total = run->samples.total,
		.generations = generations,
		.generation_count = run->list.size,
		.shown = shown,
		.is_further = rank > 0,
		.sources = run->reader ? &lines : NULL,
		.no_instructions = values->lines,
		.no_lines = values->assembly,
		.all = values->all,
		.colours = terminal_has_colours(outputs_is_standard(values->output) ? STDOUT_FILENO
										    : -1,
						values->view.color),
	};
	int err;

	if (values->format == FORMAT_JSON) {
		if (!rank) {
			run->json = json_of(run->out, true);
			annotation_json_begin(&run->json, &output);
		}
		err = annotation_json_piece(&run->json, annotation, &output);
	} else {
		err = annotation_write_text(run->out, annotation, &output);
	}

	if (run->reader)
		say_sources(run, &files);
	source_files_deinit(&files);
	return err;
}

/* Write a piece of code of the function, `rank` of those that are written. */
static int write_piece(struct run *run, const struct annotation_sources *sources,
		       const struct generation *generations, size_t piece, size_t rank)
{
	struct annotation annotation = {0};
	int err = annotation_init(&annotation, sources, generations[piece].function);

	err = err ?: write_annotation(run, &annotation, generations, piece, rank);
	annotation_deinit(&annotation);
	return err;
}

/*
 * Write the piece that was chosen and, unless --generation chose it, also the others, those with
 * most samples first. In text, pieces with few samples are in the list only.
 */
static int write_pieces(struct run *run, const struct annotation_sources *sources,
			const struct generation *generations, size_t shown)
{
	size_t count = run->list.size, piece = shown, rank = 0;
	bool one = run->options->generation, is_json = run->options->format == FORMAT_JSON;
	uint64_t samples = 0;
	int err;

	for (size_t i = 0; i < count; i++) {
		if (generations[i].function->kind != LOCATION_RUNTIME)
			samples += generations[i].function->samples;
	}
	do {
		err = write_piece(run, sources, generations, piece, rank++);
		piece = generations_next(generations, count, piece);
	} while (!err && !one && piece < count && rank < (is_json ? PIECES_MAX : PIECES_TEXT_MAX) &&
		 (is_json || generations[piece].function->samples * PIECE_SHARE >= samples));
	if (!err && is_json)
		err = annotation_json_end(&run->json, run->out);
	return err;
}

static int make(struct run *run)
{
	AUTO_FREE struct generation *generations = NULL;
	struct file_source files;
	struct annotation_sources sources = {
		.samples = &run->samples, .files = &files, .style = run->options->style};
	size_t shown = 0;
	int err = code_history_create(CODE_LIVES_MAX, &run->history);

	err = err ?: pipeline_add_live(run->replay.pipeline, &sink_code_history, run->history);
	err = err ?: replay_run(&run->replay);
	if (err)
		return err;
	sources.view = pipeline_shown_view(run->replay.pipeline);
	sources.symbolizer = run->replay.symbolizer;
	file_store_source(run->replay.files, &files);
	err = function_samples_init(&run->samples, sources.view);
	err = err
		      ?: function_samples_find(&run->samples, run->name, run->options->module,
					       &run->list);
	err = err ?: function_samples_add_pieces(&run->samples, run->name, &run->list);
	if (!err && run->options->assembly)
		err = leave_out_lines(run);
	err = err ?: find_generations(run, &generations, &shown);
	err = err ?: write_pieces(run, &sources, generations, shown);
	if (err == -ENOMEM)
		memory_limit_say();
	return err;
}

/* Returns the exit status. */
static int annotate(const struct annotate_options *values, const char *name, const char *path)
{
	const struct sample_filter filter = filter_options_filter(&values->filter);
	const struct output_paths declared = {.paths = &values->output, .count = 1};
	struct run run = {.options = values, .name = name};
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
	err = err ?: make(&run);
	if (!err)
		outputs_keep(&outputs);
	err = outputs_close(&outputs) ?: err;
	source_reader_destroy(run.reader);
	function_samples_deinit(&run.samples);
	vec_deinit(&run.list);
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
