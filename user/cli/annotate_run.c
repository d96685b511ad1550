/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/annotate_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/files/file_store.h"
#include "agent/files/sources/source_files.h"
#include "base/scope.h"
#include "base/text.h"
#include "cli/memory_limit.h"
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

/* --- choosing the function ---------------------------------------------------------------- */

/* Print that no function matches, or which ones do. Returns -ENOENT or -ENOTUNIQ. */
static int say_choice(struct annotate_run *run)
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
static int leave_out_lines(struct annotate_run *run)
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
static int find_generations(struct annotate_run *run, struct generation **ret, size_t *ret_shown)
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
static void say_sources(const struct annotate_run *run, const struct source_files *sources)
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

static int write_annotation(struct annotate_run *run, const struct annotation *annotation,
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
static int write_piece(struct annotate_run *run, const struct annotation_sources *sources,
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
static int write_pieces(struct annotate_run *run, const struct annotation_sources *sources,
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

int annotate_run(struct annotate_run *run)
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

void annotate_run_deinit(struct annotate_run *run)
{
	function_samples_deinit(&run->samples);
	vec_deinit(&run->list);
}
