/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/annotate/annotation_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"

#define CONTEXT	 3  /* lines before and after a line that has code */
#define CODE_MAX 15 /* bytes of an instruction */

/* A source line that is to be shown. */
struct place {
	uint32_t file, line;
};

struct writer {
	struct json *json;
	const struct annotation *annotation;
	uint32_t *numbers;     /* by string of the annotation: its number here, plus 1 */
	VEC(uint32_t) strings; /* of the annotation, by number here */
	VEC(struct place) places;
};

static void writer_deinit(struct writer *w)
{
	free(w->numbers);
	vec_deinit(&w->strings);
	vec_deinit(&w->places);
}

/* --- numbers ------------------------------------------------------------------------------ */

/* Returns the number of a string here. */
static int number_of(struct writer *w, uint32_t string, uint32_t *ret)
{
	if (!w->numbers[string]) {
		if (vec_push(&w->strings, string))
			return -ENOMEM;
		w->numbers[string] = (uint32_t)w->strings.size;
	}
	*ret = w->numbers[string] - 1;
	return 0;
}

static int put_string_number(struct writer *w, uint32_t string)
{
	uint32_t number;
	int err = number_of(w, string, &number);

	if (!err)
		json_number(w->json, number);
	return err;
}

/* Consecutive instructions share their frames or have different ones. */
static bool has_new_frames(const struct writer *w, size_t i, size_t last)
{
	const struct annotated_instruction *all = w->annotation->instructions.data;

	return all[i].frame_count && (last == SIZE_MAX || all[i].first != all[last].first ||
				      all[i].frame_count != all[last].frame_count);
}

/* --- members ------------------------------------------------------------------------------ */

static int write_frames(struct writer *w)
{
	const struct annotation *annotation = w->annotation;
	size_t last = SIZE_MAX;
	int err = 0;

	json_key(w->json, "frames");
	json_begin(w->json, '[');
	for (size_t i = 0; i < annotation->instructions.size && !err; i++) {
		const struct annotated_instruction *now = &annotation->instructions.data[i];

		if (!has_new_frames(w, i, last))
			continue;
		last = i;
		json_begin(w->json, '[');
		for (uint32_t k = 0; k < now->frame_count && !err; k++) {
			const struct annotated_frame *frame = annotation_frame(annotation, now, k);

			err = put_string_number(w, frame->name)
				      ?: put_string_number(w, frame->file);
			json_number(w->json, frame->line);
			if (frame->line && frame->file && !err)
				err = vec_push(&w->places,
					       ((struct place){frame->file, frame->line}));
		}
		json_end(w->json, ']');
	}
	json_end(w->json, ']');
	return err;
}

static void put_code(struct writer *w, const struct annotated_instruction *instruction)
{
	char text[2 * CODE_MAX + 1] = "";

	for (uint32_t i = 0; i < instruction->length && i < CODE_MAX; i++)
		snprintf(text + 2 * i, 3, "%02x", w->annotation->code[instruction->offset + i]);
	json_string(w->json, text);
}

static void put_target(struct writer *w, uint64_t target)
{
	if (target == UINT64_MAX)
		json_literal(w->json, "-1");
	else
		json_number(w->json, target);
}

static int write_instructions(struct writer *w)
{
	size_t last = SIZE_MAX;
	uint32_t frames = 0;
	int err = 0;

	json_key(w->json, "instructions");
	json_begin(w->json, '[');
	for (size_t i = 0; i < w->annotation->instructions.size && !err; i++) {
		const struct annotated_instruction *now = &w->annotation->instructions.data[i];

		if (has_new_frames(w, i, last)) {
			frames++;
			last = i;
		}
		json_begin(w->json, '[');
		json_number(w->json, now->offset);
		json_number(w->json, now->samples);
		json_number(w->json, now->length);
		err = put_string_number(w, now->text);
		json_number(w->json, now->frame_count ? frames : 0);
		put_target(w, now->target);
		put_code(w, now);
		json_end(w->json, ']');
	}
	json_end(w->json, ']');
	return err;
}

/* Write the lines of a function of a runtime instead of instructions. */
static int write_sampled(struct writer *w)
{
	const struct annotation *annotation = w->annotation;
	int err = 0;

	json_key(w->json, "sampled");
	json_begin(w->json, '[');
	vec_for_each (line, &annotation->instructions) {
		const struct annotated_frame *frame = annotation_frame(annotation, line, 0);

		if (err || !frame)
			continue;
		json_begin(w->json, '[');
		err = put_string_number(w, frame->file);
		json_number(w->json, frame->line);
		json_number(w->json, line->samples);
		json_number(w->json, line->total);
		json_end(w->json, ']');
		if (frame->line && frame->file && !err)
			err = vec_push(&w->places, ((struct place){frame->file, frame->line}));
	}
	json_end(w->json, ']');
	json_key(w->json, "instructions");
	json_begin(w->json, '[');
	json_end(w->json, ']');
	json_key(w->json, "frames");
	json_begin(w->json, '[');
	json_end(w->json, ']');
	return err;
}

static void write_strings(struct writer *w)
{
	json_key(w->json, "strings");
	json_begin(w->json, '[');
	vec_for_each (string, &w->strings)
		json_string(w->json, string_pool_get(w->annotation->strings, *string));
	json_end(w->json, ']');
}

/* --- source lines ------------------------------------------------------------------------- */

static int compare_places(const void *a_, const void *b_)
{
	const struct place *a = a_, *b = b_;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* Returns false if there is no such line. */
static bool put_line(struct writer *w, const struct source_lines *sources, uint32_t file,
		     uint32_t line, int *err)
{
	size_t size_bytes = 0;
	const char *text = sources->line(
		sources->context, string_pool_get(w->annotation->strings, file), line, &size_bytes);
	char copy[PAGE_LINE_BYTES + 1];

	if (!text)
		return false;
	if (size_bytes > PAGE_LINE_BYTES)
		size_bytes = PAGE_LINE_BYTES;
	memcpy(copy, text, size_bytes);
	copy[size_bytes] = 0;
	json_begin(w->json, '[');
	*err = *err ?: put_string_number(w, file);
	json_number(w->json, line);
	json_string(w->json, copy);
	json_end(w->json, ']');
	return true;
}

/* Write the lines that code is of, and some around them. places are sorted. */
static int write_lines(struct writer *w, const struct source_lines *sources)
{
	uint32_t file = 0, next = 1, written = 0;
	int err = 0;

	json_key(w->json, "lines");
	json_begin(w->json, '[');
	vec_for_each (place, &w->places) {
		uint32_t from = place->line > CONTEXT ? place->line - CONTEXT : 1;
		uint64_t end = (uint64_t)place->line + CONTEXT + 1;

		if (place->file != file)
			next = 1;
		file = place->file;
		for (uint64_t line = from > next ? from : next;
		     line < end && line <= UINT32_MAX && written < PAGE_LINES_MAX && !err; line++) {
			if (!put_line(w, sources, file, (uint32_t)line, &err))
				break;
			written++;
			next = (uint32_t)line + 1;
		}
	}
	json_end(w->json, ']');
	return err;
}

static int write_troubles(struct writer *w, const struct source_lines *sources)
{
	uint32_t last = 0;
	int err = 0;

	json_key(w->json, "troubles");
	json_begin(w->json, '[');
	vec_for_each (place, &w->places) {
		const char *words;

		if (place->file == last || !sources->trouble)
			continue;
		last = place->file;
		words = sources->trouble(sources->context,
					 string_pool_get(w->annotation->strings, last));
		if (!words)
			continue;
		json_begin(w->json, '[');
		err = err ?: put_string_number(w, last);
		json_string(w->json, words);
		json_end(w->json, ']');
	}
	json_end(w->json, ']');
	return err;
}

static int write_sources(struct writer *w, const struct source_lines *sources)
{
	int err;

	if (w->places.size)
		qsort(w->places.data, w->places.size, sizeof(*w->places.data), compare_places);
	err = write_lines(w, sources);
	return err ?: write_troubles(w, sources);
}

int annotation_page_write(struct json *json, const struct annotation *annotation,
			  const struct source_lines *sources)
{
	CLEANUP(writer_deinit) struct writer w = {.json = json, .annotation = annotation};
	const char *lack = annotation_lack_words(annotation);
	int err;

	w.numbers = calloc(string_pool_size(annotation->strings) + 1, sizeof(*w.numbers));
	if (!w.numbers)
		return -ENOMEM;
	json_begin(json, '{');
	if (annotation->address && annotation->function->kind == LOCATION_NATIVE) {
		char address[24];

		snprintf(address, sizeof(address), "0x%llx",
			 (unsigned long long)annotation->address);
		json_member_string(json, "address", address);
	}
	if (lack)
		json_member_string(json, "lack", lack);
	json_member_number(json, "skipped", annotation->skipped);
	json_member_number(json, "unshown", annotation->unshown);
	if (annotation->function->kind == LOCATION_RUNTIME) {
		err = write_sampled(&w);
	} else {
		err = write_frames(&w);
		err = err ?: write_instructions(&w);
	}
	if (!err && sources)
		err = write_sources(&w, sources);
	write_strings(&w);
	json_end(json, '}');
	return err;
}
