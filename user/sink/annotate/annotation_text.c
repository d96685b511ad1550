/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "base/path.h"
#include "base/scope.h"
#include "sink/annotate/annotation_output.h"
#include "sink/write/out.h"
#include "sink/write/text.h"

#define NAME_COLUMNS   100
#define PLACE_COLUMNS  40
#define SOURCE_COLUMNS 120
#define LEVELS_SHOWN   8 /* of inlining at an instruction */
#define CONTEXT	       8 /* instructions that are shown around a sampled one */
#define FLUSH_BYTES    (64u << 10)
#define MARGIN	       29 /* columns of the numbers before an instruction */

/* As perf annotate has them. */
#define HOT_PERCENT  5.0
#define WARM_PERCENT 0.5

struct writer {
	const struct annotation *annotation;
	const struct annotation_output *options;
	struct text text;
	FILE *out;
	int error;
};

static void put_end(struct writer *w)
{
	text_put_string(&w->text, "\n");
	if (w->text.bytes.size > FLUSH_BYTES && !w->error)
		w->error = text_write(&w->text, w->out);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void put_colour(struct writer *w, const char *code)
{
	if (w->options->colours)
		text_printf(&w->text, "\x1b[%sm", code);
}

/* Put a share and a count of samples; nothing for none. */
static void put_samples(struct writer *w, uint64_t samples)
{
	double share = percent(samples, w->annotation->function->samples);

	if (!samples) {
		text_printf(&w->text, "%18s", "");
		return;
	}
	if (share >= WARM_PERCENT)
		put_colour(w, share >= HOT_PERCENT ? "31;1" : "32");
	text_printf(&w->text, "%6.2f %%", share);
	text_put_number(&w->text, samples, 10);
	if (share >= WARM_PERCENT)
		put_colour(w, "0");
}

/* --- source lines ------------------------------------------------------------------------ */

static void put_name(struct writer *w, uint32_t name, uint32_t columns)
{
	const char *s = string_pool_get(w->annotation->strings, name);

	text_put_name_cut(&w->text, *s ? s : "[unknown]", columns);
}

/* "file.c:12", or "no line". */
static void put_place(struct writer *w, uint32_t file, uint32_t line)
{
	const char *path = string_pool_get(w->annotation->strings, file);

	if (!*path || !line) {
		text_put_string(&w->text, "no line");
		return;
	}
	text_put_name_cut(&w->text, path_file(path), PLACE_COLUMNS);
	text_printf(&w->text, ":%u", line);
}

/* Put the text of a source line, if it is known, with blanks for tabs. */
static void put_source(struct writer *w, uint32_t file, uint32_t line)
{
	const struct source_lines *sources = w->options->sources;
	const char *path = string_pool_get(w->annotation->strings, file), *s = NULL;
	char shown[4 * SOURCE_COLUMNS + 1];
	size_t bytes = 0, kept = 0;

	if (sources && *path && line)
		s = sources->line(sources->context, path, line, &bytes);
	if (!s)
		return;
	for (size_t i = 0; i < bytes && kept + 1 < sizeof(shown) && s[i]; i++) {
		size_t blanks = s[i] == '\t' ? 8 - kept % 8 : 0;

		if (!blanks && s[i] != '\r')
			shown[kept++] = s[i];
		while (blanks-- && kept + 1 < sizeof(shown))
			shown[kept++] = ' ';
	}
	shown[kept] = 0;
	text_put_string(&w->text, "  ");
	put_colour(w, "36");
	text_put_name_cut(&w->text, shown, SOURCE_COLUMNS);
	put_colour(w, "0");
}

/* Put the place of an instruction, the chain of inlined calls, and the source line. */
static void put_frames(struct writer *w, const struct annotated_instruction *instruction)
{
	const struct annotated_frame *frame = annotation_frame(w->annotation, instruction, 0);
	uint32_t shown =
		instruction->frame_count < LEVELS_SHOWN ? instruction->frame_count : LEVELS_SHOWN;

	if (!frame)
		return;
	text_printf(&w->text, "%*s", MARGIN, "");
	for (uint32_t i = 0; i < shown; i++) {
		frame = annotation_frame(w->annotation, instruction, i);
		if (i)
			text_put_string(&w->text, " < ");
		if (instruction->frame_count > 1) {
			put_name(w, frame->name, PLACE_COLUMNS);
			text_put_string(&w->text, " ");
		}
		put_place(w, frame->file, frame->line);
	}
	if (shown < instruction->frame_count)
		text_printf(&w->text, " < %u more", instruction->frame_count - shown);
	frame = annotation_frame(w->annotation, instruction, 0);
	put_source(w, frame->file, frame->line);
	put_end(w);
}

/* --- the head ------------------------------------------------------------------------- */

/* Seconds since the start of the recording. */
static void put_time(struct writer *w, uint64_t time_ns, const char *unknown)
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

static void put_generations(struct writer *w)
{
	const struct annotation_output *options = w->options;

	text_printf(&w->text, "%zu generations; --generation N shows another one:\n",
		    options->generation_count);
	text_printf(&w->text, "  %6s%10s%10s%10s%11s%11s  %s\n", "", "SAMPLES", "SHARE", "BYTES",
		    "LOADED", "ENDED", "ADDRESS");
	for (size_t i = 0; i < options->generation_count; i++) {
		const struct generation *generation = &options->generations[i];
		const struct sampled_function *function = generation->function;

		text_printf(&w->text, "%c %6zu", i == options->shown ? '>' : ' ', i + 1);
		text_put_number(&w->text, function->samples, 10);
		text_printf(&w->text, "%8.2f %%", percent(function->samples, options->total));
		if (function->region)
			text_put_number(&w->text, function->region->size_bytes, 10);
		else
			text_printf(&w->text, "%10s", "-");
		put_time(w, generation->loaded_ns, "-");
		put_time(w, generation->ended_ns, "-");
		text_printf(&w->text, "  0x%llx", (unsigned long long)address_of(function));
		put_end(w);
	}
	put_end(w);
}

static void put_hottest(struct writer *w)
{
	const struct annotation *annotation = w->annotation;
	size_t number = annotation_hottest(annotation);
	const struct annotated_instruction *hottest = &annotation->instructions.data[number];
	const struct annotated_frame *frame = annotation_frame(annotation, hottest, 0);

	text_printf(&w->text, "hottest: +0x%llx", (unsigned long long)hottest->offset);
	if (hottest->text)
		text_printf(&w->text, "  %s", string_pool_get(annotation->strings, hottest->text));
	text_printf(&w->text, "  %.2f %%",
		    percent(hottest->samples, annotation->function->samples));
	if (frame) {
		text_put_string(&w->text, "  ");
		put_place(w, frame->file, frame->line);
	}
	put_end(w);
}

static void put_head(struct writer *w)
{
	const struct annotation *annotation = w->annotation;
	const struct sampled_function *function = annotation->function;
	const char *lack = annotation_lack_words(annotation);

	if (w->options->generation_count > 1)
		put_generations(w);
	text_put_name_cut(&w->text, function->name, NAME_COLUMNS);
	text_put_string(&w->text, " (");
	text_put_name_cut(&w->text, function->module, NAME_COLUMNS);
	if (annotation->size_bytes)
		text_printf(&w->text, ", %llu bytes", (unsigned long long)annotation->size_bytes);
	text_printf(&w->text, " at 0x%llx)\n", (unsigned long long)annotation->address);
	text_put_number(&w->text, function->samples, 0);
	text_put_string(&w->text, " samples of ");
	text_put_number(&w->text, w->options->total, 0);
	text_printf(&w->text, ", %.2f %%; percentages below are of the function's\n",
		    percent(function->samples, w->options->total));
	if (annotation->instructions.size)
		put_hottest(w);
	if (lack) {
		text_put_string(&w->text, lack);
		if (annotation->lack == CODE_FILE_MISSING)
			text_printf(&w->text, " (%s)", strerror(-annotation->error));
		put_end(w);
	}
	put_end(w);
}

/* --- lines and instructions --------------------------------------------------------------- */

static int put_lines(struct writer *w)
{
	annotated_lines lines = {0};
	int err = annotation_lines(w->annotation, &lines);

	text_printf(&w->text, "%8s%10s  %s\n", "PERCENT", "SAMPLES", "LINE");
	vec_for_each (line, &lines) {
		if (err || (!line->samples && !line->line))
			continue;
		put_samples(w, line->samples);
		text_put_string(&w->text, "  ");
		put_place(w, line->file, line->line);
		put_source(w, line->file, line->line);
		put_end(w);
	}
	vec_deinit(&lines);
	return err;
}

static void put_instruction(struct writer *w, const struct annotated_instruction *instruction)
{
	put_samples(w, instruction->samples);
	text_printf(&w->text, "%9llx  %s", (unsigned long long)instruction->offset,
		    instruction->text ? string_pool_get(w->annotation->strings, instruction->text)
				      : "-");
	if (instruction->target != UINT64_MAX)
		text_printf(&w->text, " <+0x%llx>", (unsigned long long)instruction->target);
	put_end(w);
}

/*
 * Returns the first instruction from `at` on that is shown; the number of instructions if none is.
 */
static size_t next_shown(const struct writer *w, size_t at)
{
	const struct annotated_instruction *all = w->annotation->instructions.data;
	size_t count = w->annotation->instructions.size, sampled = at > CONTEXT ? at - CONTEXT : 0;

	if (w->options->all)
		return at;
	while (sampled < count && !all[sampled].samples)
		sampled++;
	if (sampled == count)
		return count;
	return sampled > at + CONTEXT ? sampled - CONTEXT : at;
}

static void put_instructions(struct writer *w)
{
	const struct annotation *annotation = w->annotation;
	const struct annotated_instruction *before = NULL;
	size_t count = annotation->instructions.size;

	text_printf(&w->text, "%8s%10s%9s  %s\n", "PERCENT", "SAMPLES", "OFFSET", "INSTRUCTION");
	for (size_t i = 0; i < count; i++) {
		const struct annotated_instruction *now = &annotation->instructions.data[i];
		size_t next = next_shown(w, i);

		if (next > i) {
			text_printf(&w->text, "%*s... %zu without samples (--all shows them)\n",
				    MARGIN, "", next - i);
			before = NULL;
			i = next - 1;
			continue;
		}
		if (!w->options->no_lines && (!before || before->first != now->first ||
					      before->frame_count != now->frame_count))
			put_frames(w, now);
		put_instruction(w, now);
		before = now;
	}
}

int annotation_write_text(FILE *out, const struct annotation *annotation,
			  const struct annotation_output *options)
{
	struct writer w = {.annotation = annotation, .options = options, .out = out};
	int err = 0;

	put_head(&w);
	if (options->no_instructions)
		err = put_lines(&w);
	else
		put_instructions(&w);
	err = err ?: w.error;
	err = err ?: text_write(&w.text, out);
	text_deinit(&w.text);
	return err ?: out_flush(out);
}

int annotation_write_choice(FILE *out, const struct function_samples *samples,
			    const function_list *list)
{
	CLEANUP(text_deinit) struct text text = {0};
	int err;

	text_printf(&text, "%10s  %s\n", "SAMPLES", "FUNCTION");
	vec_for_each (number, list) {
		const struct sampled_function *function = &samples->functions.data[*number];

		text_put_number(&text, function->samples, 10);
		text_put_string(&text, "  ");
		text_put_name_cut(&text, function->name, NAME_COLUMNS);
		text_put_string(&text, " (");
		text_put_name_cut(&text, function->module, NAME_COLUMNS);
		text_put_string(&text, ")\n");
	}
	err = text_write(&text, out);
	return err ?: out_flush(out);
}

const char *annotation_lack_words(const struct annotation *annotation)
{
	switch (annotation->lack) {
	case CODE_IS_CUT:
		return "only the beginning of the code is known; offsets behind it have samples "
		       "but no instruction";
	case CODE_NOT_RECORDED:
		return "the recording has no code of this function, so there are offsets only: "
		       "`jitbpf record --code` keeps the code of what is sampled";
	case CODE_OF_KERNEL:
		return "kernel code is not read, so there are offsets only";
	case CODE_FILE_MISSING:
		return "the file cannot be read, so there are offsets only";
	case CODE_FILE_CHANGED:
		return "the file at this path is not the one that was recorded (another build ID "
		       "or inode, or neither is known), so there are offsets only";
	case CODE_FILE_NOT_READ:
		return "the file has no code at this place, so there are offsets only";
	case CODE_NOT_KEPT:
		return "the code could not be read before it was replaced, or there was no room to "
		       "keep it, so there are offsets only";
	case CODE_NOT_MADE:
		return "the process that disassembles the code has failed, so there are offsets "
		       "only";
	default:
		return NULL;
	}
}
