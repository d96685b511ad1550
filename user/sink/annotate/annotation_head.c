/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "base/path.h"
#include "sink/annotate/annotation_writer.h"
#include "sink/write/text.h"

/* Seconds since the start of the recording. */
static void put_time(struct annotation_writer *w, uint64_t time_ns, const char *unknown)
{
	uint64_t start_ns = w->options->view->info->start_ns;

	if (!time_ns)
		text_printf(&w->text, "%11s", unknown);
	else if (time_ns == UINT64_MAX)
		text_printf(&w->text, "%11s", "live");
	else if (time_ns < start_ns)
		text_printf(&w->text, "%11s", "before");
	else
		text_printf(&w->text, "%9.3f s", (double)(time_ns - start_ns) / 1e9);
}

static uint64_t address_of(const struct sampled_function *function)
{
	return function->region ? function->region->address : function->start;
}

/* Returns true if the pieces have several names, or, of machine code, several source files. */
static bool has_several(const struct annotation_output *options, bool files)
{
	const struct sampled_function *first = options->generations[0].function;

	for (size_t i = 1; i < options->generation_count; i++) {
		const struct sampled_function *function = options->generations[i].function;

		if (strcmp(function->function_file, first->function_file) != 0 ||
		    (!files && strcmp(function->name, first->name) != 0))
			return true;
	}
	return false;
}

/*
 * Put the name and the tier of a piece of code: "f.cold [cold]", with its file if
 * others have another one.
 */
static void put_piece_name(struct annotation_writer *w, const struct sampled_function *function)
{
	text_put_name_cut(&w->text, function->name, NAME_COLUMNS);
	if (*code_tier_word(function->tier))
		text_printf(&w->text, " [%s]", code_tier_word(function->tier));
	if (*function->function_file && !function->region && function->kind != LOCATION_RUNTIME &&
	    has_several(w->options, true)) {
		text_put_string(&w->text, " of ");
		text_put_name_cut(&w->text, path_file(function->function_file), PLACE_COLUMNS);
	}
}

static void put_generations(struct annotation_writer *w)
{
	bool several = has_several(w->options, false);
	const struct annotation_output *options = w->options;

	text_printf(&w->text, "%zu pieces of code; --generation N shows one:\n",
		    options->generation_count);
	text_printf(&w->text, "  %6s%10s%10s%10s%11s%11s  %s%s\n", "", "SAMPLES", "SHARE", "BYTES",
		    "LOADED", "ENDED", "ADDRESS", several ? "         CODE" : "");
	for (size_t i = 0; i < options->generation_count; i++) {
		const struct generation *generation = &options->generations[i];
		const struct sampled_function *function = generation->function;

		text_printf(&w->text, "%c %6zu", i == options->shown ? '>' : ' ', i + 1);
		text_put_number(&w->text, function->samples, 10);
		text_printf(&w->text, "%8.2f %%", share_percent(function->samples, options->total));
		if (function->region)
			text_put_number(&w->text, function->region->size_bytes, 10);
		else
			text_printf(&w->text, "%10s", "-");
		put_time(w, generation->loaded_ns, "-");
		put_time(w, generation->ended_ns, "-");
		if (function->kind == LOCATION_RUNTIME)
			text_printf(&w->text, "  %-16s", "source lines");
		else
			text_printf(&w->text, several ? "  0x%-14llx" : "  0x%llx",
				    (unsigned long long)address_of(function));
		if (several)
			put_piece_name(w, function);
		annotation_put_end(w);
	}
	annotation_put_end(w);
}

static void put_hottest(struct annotation_writer *w)
{
	const struct annotation *annotation = w->annotation;
	size_t number = annotation_hottest(annotation);
	const struct annotated_instruction *hottest = &annotation->instructions.data[number];
	const struct annotated_frame *frame = annotation_frame(annotation, hottest, 0);

	text_printf(&w->text, "hottest: +0x%llx", (unsigned long long)hottest->offset);
	if (hottest->text)
		text_printf(&w->text, "  %s", string_pool_get(annotation->strings, hottest->text));
	text_printf(&w->text, "  %.2f %%",
		    share_percent(hottest->samples, annotation->function->samples));
	if (frame) {
		text_put_string(&w->text, "  ");
		annotation_put_place(w, frame->file, frame->line);
	}
	annotation_put_end(w);
}

static void put_runtime_head(struct annotation_writer *w)
{
	const struct sampled_function *function = w->annotation->function;
	uint64_t total = w->options->total;

	text_put_string(&w->text, " (");
	text_put_name_cut(&w->text, function->module, NAME_COLUMNS);
	text_put_string(&w->text, *function->file ? ", " : ", its file is not known");
	text_put_name_cut(&w->text, function->file, NAME_COLUMNS);
	text_put_string(&w->text, ")\n");
	text_put_number(&w->text, function->total, 0);
	text_put_string(&w->text, " samples of ");
	text_put_number(&w->text, total, 0);
	text_printf(&w->text, ", %.2f %%, with those of what it calls; ",
		    share_percent(function->total, total));
	text_put_number(&w->text, function->samples, 0);
	text_printf(&w->text, " in itself, %.2f %%; percentages below are of the ",
		    share_percent(function->samples, total));
	text_put_number(&w->text, function->total, 0);
	annotation_put_end(w);
}

static void put_code_head(struct annotation_writer *w)
{
	const struct annotation *annotation = w->annotation;
	const struct sampled_function *function = annotation->function;

	text_put_string(&w->text, " (");
	text_put_name_cut(&w->text, function->module, NAME_COLUMNS);
	if (annotation->size_bytes)
		text_printf(&w->text, ", %llu bytes", (unsigned long long)annotation->size_bytes);
	text_printf(&w->text, " at 0x%llx)\n", (unsigned long long)annotation->address);
	text_put_number(&w->text, function->samples, 0);
	text_put_string(&w->text, " samples of ");
	text_put_number(&w->text, w->options->total, 0);
	text_printf(&w->text, ", %.2f %%; percentages below are of %s\n",
		    share_percent(function->samples, w->options->total),
		    w->options->generation_count > 1 ? "this piece's" : "the function's");
	if (annotation->instructions.size)
		put_hottest(w);
}

void annotation_put_head(struct annotation_writer *w)
{
	const struct annotation *annotation = w->annotation;
	const struct sampled_function *function = annotation->function;
	const char *lack = annotation_lack_words(annotation);

	if (w->options->is_further)
		annotation_put_end(w);
	else if (w->options->generation_count > 1)
		put_generations(w);
	if (w->options->generation_count > 1)
		text_printf(&w->text, "%zu: ", w->options->shown + 1);
	put_piece_name(w, function);
	if (function->kind == LOCATION_RUNTIME)
		put_runtime_head(w);
	else
		put_code_head(w);
	if (lack) {
		text_put_string(&w->text, lack);
		if (annotation->lack == CODE_FILE_MISSING)
			text_printf(&w->text, " (%s)", strerror(-annotation->error));
		annotation_put_end(w);
	}
	annotation_put_end(w);
}
