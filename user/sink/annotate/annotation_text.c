/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "base/scope.h"
#include "sink/annotate/annotation_writer.h"
#include "sink/same_names.h"
#include "sink/write/out.h"
#include "sink/write/text.h"

#define SOURCE_COLUMNS 120
#define LEVELS_SHOWN   8     /* of inlining at an instruction */
#define CONTEXT	       8     /* instructions that are shown around a sampled one */
#define LINES_AROUND   2     /* source lines that are shown around a sampled one */
#define LINES_ALL      10000 /* of those between sampled ones, with --all */
#define FLUSH_BYTES    (64u << 10)
#define MARGIN	       29 /* columns of the numbers before an instruction */

/* As perf annotate has them. */
#define HOT_PERCENT  5.0
#define WARM_PERCENT 0.5

void annotation_put_end(struct annotation_writer *w)
{
	text_put_string(&w->text, "\n");
	if (w->text.bytes.size > FLUSH_BYTES && !w->error)
		w->error = text_write(&w->text, w->out);
}

static void put_colour(struct annotation_writer *w, const char *code)
{
	if (w->options->colours)
		text_printf(&w->text, "\x1b[%sm", code);
}

/* Put a share of the function's samples, and a count; nothing for none. */
static void put_samples(struct annotation_writer *w, uint64_t samples)
{
	double share = share_percent(samples, annotation_whole(w->annotation->function));

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

static void put_name(struct annotation_writer *w, uint32_t name, uint32_t columns)
{
	const char *s = string_pool_get(w->annotation->strings, name);

	text_put_name_cut(&w->text, *s ? s : "[unknown]", columns);
}

void annotation_put_place(struct annotation_writer *w, uint32_t file, uint32_t line)
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
static void put_source(struct annotation_writer *w, uint32_t file, uint32_t line)
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
static void put_frames(struct annotation_writer *w, const struct annotated_instruction *instruction)
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
		annotation_put_place(w, frame->file, frame->line);
	}
	if (shown < instruction->frame_count)
		text_printf(&w->text, " < %u more", instruction->frame_count - shown);
	frame = annotation_frame(w->annotation, instruction, 0);
	put_source(w, frame->file, frame->line);
	annotation_put_end(w);
}

/* --- lines and instructions --------------------------------------------------------------- */

static int put_lines(struct annotation_writer *w)
{
	annotated_lines lines = {0};
	int err = annotation_lines(w->annotation, &lines);

	text_printf(&w->text, "%8s%10s  %s\n", "PERCENT", "SAMPLES", "LINE");
	vec_for_each (line, &lines) {
		if (err || (!line->samples && !line->line))
			continue;
		put_samples(w, line->samples);
		text_put_string(&w->text, "  ");
		annotation_put_place(w, line->file, line->line);
		put_source(w, line->file, line->line);
		annotation_put_end(w);
	}
	vec_deinit(&lines);
	return err;
}

/* Returns true if the source line is known. */
static bool put_runtime_line(struct annotation_writer *w, uint32_t file,
			     const struct annotated_line *line)
{
	const char *path = string_pool_get(w->annotation->strings, file);
	const struct source_lines *sources = w->options->sources;
	size_t bytes;

	if (!line->total &&
	    (!sources || !*path || !sources->line(sources->context, path, line->line, &bytes)))
		return false;
	put_samples(w, line->samples);
	text_put_string(&w->text, "  ");
	put_samples(w, line->total);
	if (line->line)
		text_printf(&w->text, "%9u", line->line);
	else
		text_printf(&w->text, "%9s", "no line");
	put_source(w, file, line->line);
	annotation_put_end(w);
	return true;
}

/* Put the sampled lines of a function of a runtime, and some around them. lines are sorted. */
static int put_runtime_lines(struct annotation_writer *w)
{
	annotated_lines lines = {0};
	int err = annotation_lines(w->annotation, &lines);
	uint64_t around = w->options->all ? LINES_ALL : LINES_AROUND, next = 1;

	text_printf(&w->text, "%8s%10s%10s%10s%9s  %s\n", "SELF", "SAMPLES", "TOTAL", "SAMPLES",
		    "LINE", "SOURCE");
	for (size_t i = 0; i < lines.size && !err; i++) {
		const struct annotated_line *now = &lines.data[i];
		uint64_t end = i + 1 < lines.size ? lines.data[i + 1].line : UINT64_MAX;
		uint64_t from = now->line > LINES_AROUND ? now->line - LINES_AROUND : 1;

		if (now->line && from > next && i && lines.data[i - 1].line)
			text_printf(&w->text, "%*s\n", 47, "...");
		for (uint64_t at = from > next ? from : next; at < now->line; at++)
			put_runtime_line(w, now->file,
					 &(struct annotated_line){.line = (uint32_t)at});
		put_runtime_line(w, now->file, now);
		next = now->line + 1ull;
		for (uint64_t k = 0; now->line && k < around && next < end && next <= UINT32_MAX;
		     k++, next++) {
			if ((i + 1 == lines.size && k >= LINES_AROUND) ||
			    !put_runtime_line(w, now->file,
					      &(struct annotated_line){.line = (uint32_t)next}))
				break;
		}
	}
	vec_deinit(&lines);
	return err;
}

static void put_instruction(struct annotation_writer *w,
			    const struct annotated_instruction *instruction)
{
	put_samples(w, instruction->samples);
	text_printf(&w->text, "%9llx  %s", (unsigned long long)instruction->offset,
		    instruction->text ? string_pool_get(w->annotation->strings, instruction->text)
				      : "-");
	if (instruction->target != UINT64_MAX)
		text_printf(&w->text, " <+0x%llx>", (unsigned long long)instruction->target);
	annotation_put_end(w);
}

/*
 * Returns the first instruction from `at` on that is shown; the number of instructions if none is.
 */
static size_t next_shown(const struct annotation_writer *w, size_t at)
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

static void put_instructions(struct annotation_writer *w)
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
	struct annotation_writer w = {.annotation = annotation, .options = options, .out = out};
	int err = 0;

	annotation_put_head(&w);
	if (annotation->function->kind == LOCATION_RUNTIME)
		err = put_runtime_lines(&w);
	else if (options->no_instructions)
		err = put_lines(&w);
	else
		put_instructions(&w);
	err = err ?: w.error;
	err = err ?: text_write(&w.text, out);
	text_deinit(&w.text);
	return err ?: out_flush(out);
}

DEFINE_CLEANUP(struct string_pool *, string_pool_destroy);

/* Add the functions of a list, by name and module: those of runtimes have their files anyway. */
static int add_same_names(struct same_names *names, const struct function_samples *samples,
			  const function_list *list)
{
	CLEANUP(string_pool_destroyp) struct string_pool *strings = NULL;
	int err = string_pool_create(&strings);

	vec_for_each (number, list) {
		const struct sampled_function *function = &samples->functions.data[*number];
		bool has_file = function->kind == LOCATION_RUNTIME;
		struct same_name name = {.kind = function->kind};

		err = err ?: string_pool_add(strings, function->name, SIZE_MAX, &name.name);
		err = err ?: string_pool_add(strings, function->module, SIZE_MAX, &name.module);
		err = err ?: same_names_add(names, &name, has_file ? "" : function->function_file);
	}
	return err;
}

int annotation_write_choice(FILE *out, const struct function_samples *samples,
			    const function_list *list)
{
	CLEANUP(same_names_deinit) struct same_names names;
	CLEANUP(text_deinit) struct text text = {0};
	int err;

	same_names_init(&names);
	err = add_same_names(&names, samples, list);
	if (err)
		return err;
	text_printf(&text, "%10s  %s\n", "SAMPLES", "FUNCTION");
	for (uint32_t i = 0; i < list->size; i++) {
		const struct sampled_function *function = &samples->functions.data[list->data[i]];
		const char *file = same_names_file(&names, i);

		text_put_number(&text, annotation_whole(function), 10);
		text_put_string(&text, "  ");
		text_put_name_cut(&text, function->name, NAME_COLUMNS);
		text_put_string(&text, *file ? " of " : "");
		text_put_name_cut(&text, file, NAME_COLUMNS);
		text_put_string(&text, " (");
		text_put_name_cut(&text, *function->file ? function->file : function->module,
				  NAME_COLUMNS);
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
