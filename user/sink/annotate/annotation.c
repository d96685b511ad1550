/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/annotate/annotation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "sink/annotate/annotated_code.h"
#include "sink/frame_text.h"
#include "symbolize/name/method_name.h"
#include "symbolize/name/shown_name.h"

#define NO_LOCATION UINT32_MAX

/* An annotation while it is made. */
struct maker {
	struct annotation *annotation;
	const struct annotation_sources *sources;
	const struct place_samples *places; /* of the function, by offset */
	uint32_t place, place_count;	    /* the next one, and all */
	struct disassembler disassembler;
};

void annotation_deinit(struct annotation *annotation)
{
	free(annotation->code);
	vec_deinit(&annotation->instructions);
	vec_deinit(&annotation->frames);
	string_pool_destroy(annotation->strings);
	*annotation = (struct annotation){0};
}

/* --- frames ------------------------------------------------------------------------- */

static int intern(struct annotation *annotation, const char *s, uint32_t *ret)
{
	*ret = 0;
	return s && *s ? shown_name_add(annotation->strings, s, strlen(s), ret) : 0;
}

static int add_frame(struct annotation *annotation, const char *name, const char *file,
		     uint32_t line)
{
	struct annotated_frame frame = {.line = line};
	int err = intern(annotation, name, &frame.name);

	err = err ?: intern(annotation, file, &frame.file);
	return err ?: vec_push(&annotation->frames, frame);
}

/* The frames that the profile has of a sampled place. */
static int frames_of_profile(struct maker *maker, uint32_t location)
{
	const struct view *view = maker->sources->view;
	uint32_t count = frame_text_count(view, location);
	int err = 0;

	for (uint32_t i = 0; i < count && !err; i++) {
		struct frame_text frame;

		frame_text_get(view, location, i, &frame);
		err = add_frame(maker->annotation, frame.name, frame.file, frame.line);
	}
	return err;
}

static int frames_of_file(struct maker *maker, uint64_t offset)
{
	const struct annotation_sources *sources = maker->sources;
	const struct sampled_function *function = maker->annotation->function;
	const struct module *module = annotated_module(sources, function);
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	uint32_t count, i;
	int err;

	if (!module || !sources->symbolizer)
		return 0;
	err = symbolizer_native(sources->symbolizer, module, function->start + offset, frames,
				&count);
	i = sources->view->options.no_inline && !err ? count - 1 : 0;
	for (; !err && i < count; i++)
		err = add_frame(maker->annotation, frames[i].name, frames[i].file, frames[i].line);
	return err;
}

static int frames_of_region(struct annotation *annotation, const struct view_options *options,
			    uint64_t offset)
{
	struct code_level levels[CODE_LEVELS_MAX];
	uint32_t count = code_region_levels(annotation->function->region, offset, levels);
	int err = 0;

	for (uint32_t i = options->no_inline ? count - 1 : 0; i < count && !err; i++) {
		AUTO_FREE char *name = NULL;

		err = method_name(levels[i].class_name, levels[i].name, !options->no_demangle,
				  &name);
		err = err ?: add_frame(annotation, name, levels[i].source, levels[i].line);
	}
	return err;
}

/* Use the frames of the instruction before, if they are the same. */
static void share_frames(struct annotation *annotation, struct annotated_instruction *now)
{
	const struct annotated_instruction *before = now - 1;

	if (annotation->instructions.size < 2 || before->frame_count != now->frame_count ||
	    !now->frame_count ||
	    memcmp(annotation->frames.data + before->first, annotation->frames.data + now->first,
		   now->frame_count * sizeof(*annotation->frames.data)) != 0)
		return;
	annotation->frames.size = now->first;
	now->first = before->first;
}

/* Set the frames of the last instruction. location: of a sample there, or NO_LOCATION. */
static int set_frames(struct maker *maker, uint32_t location)
{
	struct annotation *annotation = maker->annotation;
	struct annotated_instruction *now =
		&annotation->instructions.data[annotation->instructions.size - 1];
	int err = 0;

	now->first = (uint32_t)annotation->frames.size;
	if (annotation->frames.size > ANNOTATION_FRAMES_MAX)
		return 0;
	if (location != NO_LOCATION)
		err = frames_of_profile(maker, location);
	else if (annotation->function->kind == LOCATION_NATIVE)
		err = frames_of_file(maker, now->offset);
	else if (annotation->function->kind == LOCATION_JIT)
		err = frames_of_region(annotation, &maker->sources->view->options, now->offset);
	now->frame_count = (uint32_t)annotation->frames.size - now->first;
	share_frames(annotation, now);
	return err;
}

/* --- instructions ---------------------------------------------------------------------- */

/* Take the samples at an offset. Returns one of their locations, or NO_LOCATION. */
static uint32_t take_samples(struct maker *maker, uint64_t offset, uint64_t *ret)
{
	uint32_t location = NO_LOCATION;

	*ret = 0;
	for (; maker->place < maker->place_count && maker->places[maker->place].offset == offset;
	     maker->place++) {
		*ret += maker->places[maker->place].samples;
		location = maker->places[maker->place].location;
	}
	return location;
}

static int add_instruction(struct maker *maker, uint64_t offset, const struct disassembled *text)
{
	struct annotation *annotation = maker->annotation;
	struct annotated_instruction added = {.offset = offset, .target = UINT64_MAX};
	uint32_t location = take_samples(maker, offset, &added.samples);
	int err = 0;

	if (text) {
		added.length = text->length;
		err = intern(annotation, text->text, &added.text);
	}
	if (text && text->has_target && text->target >= annotation->address &&
	    text->target - annotation->address < annotation->code_bytes)
		added.target = text->target - annotation->address;
	err = err ?: vec_push(&annotation->instructions, added);
	return err ?: set_frames(maker, location);
}

/*
 * Disassemble the code. An instruction begins at each sampled offset, since a program counter was
 * there. Without this, data between functions could decode as an instruction that contains the
 * sampled one.
 */
static int add_code(struct maker *maker)
{
	struct annotation *annotation = maker->annotation;
	uint64_t offset = 0;
	int err = 0;

	while (offset < annotation->code_bytes && !err) {
		size_t left = annotation->code_bytes - offset;
		uint64_t next = UINT64_MAX;
		struct disassembled text;
		uint32_t at = maker->place;

		while (at < maker->place_count && maker->places[at].offset == offset)
			at++;
		if (at < maker->place_count)
			next = maker->places[at].offset;
		disassemble(&maker->disassembler, annotation->code + offset,
			    next - offset < left ? next - offset : left,
			    annotation->address + offset, &text);
		err = add_instruction(maker, offset, &text);
		offset += text.length;
	}
	return err;
}

/* Add the samples after the end of the known code. */
static int add_rest(struct maker *maker)
{
	int err = 0;

	while (maker->place < maker->place_count && !err)
		err = add_instruction(maker, maker->places[maker->place].offset, NULL);
	return err;
}

int annotation_init(struct annotation *ret, const struct annotation_sources *sources,
		    const struct sampled_function *function)
{
	struct maker maker = {
		.annotation = ret,
		.sources = sources,
		.places = sources->samples->places.data + function->first,
		.place_count = function->count,
	};
	bool is_32_bit = function->region && function->region->arch == 1;
	int err;

	if (function->kind == LOCATION_RUNTIME)
		return annotation_of_lines(ret, function, maker.places);
	*ret = (struct annotation){.function = function};
	err = string_pool_create(&ret->strings);
	err = err ?: disassembler_init(&maker.disassembler, sources->style, is_32_bit);
	if (!err)
		err = annotated_code_read(ret, sources, maker.places[function->count - 1].offset);
	err = err ?: add_code(&maker);
	return err ?: add_rest(&maker);
}

int annotation_take_region(struct annotation *annotation, const struct view_options *options)
{
	int err = 0;

	annotation->frames.size = 0;
	for (size_t i = 0; i < annotation->instructions.size && !err; i++) {
		struct annotated_instruction *now = &annotation->instructions.data[i];

		now->first = (uint32_t)annotation->frames.size;
		now->frame_count = 0;
		if (annotation->frames.size > ANNOTATION_FRAMES_MAX)
			continue;
		err = frames_of_region(annotation, options, now->offset);
		now->frame_count = (uint32_t)annotation->frames.size - now->first;
		if (i)
			share_frames(annotation, now);
	}
	return err;
}

int annotation_of_places(struct annotation *ret, const struct sampled_function *function,
			 const struct place_samples *places)
{
	int err;

	*ret = (struct annotation){.function = function};
	err = string_pool_create(&ret->strings);
	for (uint32_t i = 0; i < function->count && !err; i++) {
		struct annotated_instruction *last =
			ret->instructions.size ? &ret->instructions.data[ret->instructions.size - 1]
					       : NULL;

		if (last && last->offset == places[i].offset)
			last->samples += places[i].samples;
		else
			err = vec_push(&ret->instructions,
				       ((struct annotated_instruction){.offset = places[i].offset,
								       .samples = places[i].samples,
								       .total = places[i].total,
								       .target = UINT64_MAX}));
	}
	return err;
}

int annotation_of_lines(struct annotation *ret, const struct sampled_function *function,
			const struct place_samples *places)
{
	int err = annotation_of_places(ret, function, places);

	vec_for_each (line, &ret->instructions) {
		line->first = (uint32_t)ret->frames.size;
		err = err ?: add_frame(ret, function->name, function->file, (uint32_t)line->offset);
		line->frame_count = !err;
	}
	return err;
}

size_t annotation_hottest(const struct annotation *annotation)
{
	size_t hottest = 0;

	for (size_t i = 1; i < annotation->instructions.size; i++) {
		if (annotation->instructions.data[i].samples >
		    annotation->instructions.data[hottest].samples)
			hottest = i;
	}
	return hottest;
}

const struct annotated_frame *annotation_frame(const struct annotation *annotation,
					       const struct annotated_instruction *instruction,
					       uint32_t level)
{
	return level < instruction->frame_count
		       ? &annotation->frames.data[instruction->first + level]
		       : NULL;
}

/* --- lines ------------------------------------------------------------------------------- */

static int compare_lines(const void *a_, const void *b_)
{
	const struct annotated_line *a = a_, *b = b_;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

int annotation_lines(const struct annotation *annotation, annotated_lines *ret)
{
	size_t kept = 0;

	vec_for_each (instruction, &annotation->instructions) {
		const struct annotated_frame *frame = annotation_frame(annotation, instruction, 0);
		struct annotated_line line = {.samples = instruction->samples,
					      .total = instruction->total};

		if (frame && frame->line) {
			line.file = frame->file;
			line.line = frame->line;
		}
		if (vec_push(ret, line))
			return -ENOMEM;
	}
	if (ret->size)
		qsort(ret->data, ret->size, sizeof(*ret->data), compare_lines);
	for (size_t i = 0; i < ret->size; i++) {
		if (kept && !compare_lines(&ret->data[kept - 1], &ret->data[i]))
			ret->data[kept - 1].samples += ret->data[i].samples;
		else
			ret->data[kept++] = ret->data[i];
	}
	ret->size = kept;
	return 0;
}
