/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/runtime_sections.h"

#include <errno.h>
#include <stdbool.h>

#include "runtimes/runtime_check.h"

struct walk {
	const struct process_memory *memory;
	const struct runtime_recipe *recipe;
	uint64_t section, array;
	int32_t number; /* of the next frame; negative: the section has none */
	uint32_t kind;	/* of the section */
	uint64_t place; /* of the next frame */
	bool last_is_entry, ends;
	struct runtime_frame *frames;
	size_t max, count;
};

static int word_at(const struct walk *walk, uint64_t address, int64_t offset, uint64_t *ret)
{
	return process_memory_word(walk->memory, address + (uint64_t)offset, ret);
}

static int half_at(const struct walk *walk, uint64_t address, int64_t offset, uint32_t *ret)
{
	return process_memory_read(walk->memory, address + (uint64_t)offset, ret, sizeof(*ret));
}

static uint64_t frame_of(const struct walk *walk, int32_t number)
{
	return walk->array + (uint64_t)number * (uint64_t)(int64_t)walk->recipe->stride;
}

static int enter(struct walk *walk, uint64_t section)
{
	const struct runtime_sections *s = &walk->recipe->sections;
	uint32_t number = 0;
	int err = word_at(walk, section, s->array_at, &walk->array);

	walk->section = section;
	walk->last_is_entry = false;
	err = err ?: half_at(walk, section, s->number_at, &number);
	walk->number = (int32_t)number;
	return err ?: half_at(walk, section, s->kind_at, &walk->kind);
}

static void add(struct walk *walk, struct runtime_frame frame)
{
	if (walk->count < walk->max)
		walk->frames[walk->count++] = frame;
}

/* Add a frame of code that is in no function. */
static void add_file(struct walk *walk, uint64_t place, bool is_entry)
{
	const struct runtime_sections *s = &walk->recipe->sections;
	char text[RUNTIME_OBJECT_BYTES_MAX];
	uint64_t address = place, check;
	uint32_t line;

	for (uint32_t i = 0; i < s->file_step_count && i < RUNTIME_FILE_STEPS_MAX && address; i++) {
		if (word_at(walk, address, s->file_step[i], &address))
			address = 0;
	}
	if (!address) {
		add(walk, (struct runtime_frame){.check = is_entry});
		return;
	}
	address += (uint64_t)s->file_offset;
	if (half_at(walk, place, s->line_at, &line))
		line = 0;
	if (runtime_check_text(walk->memory, s, address, text, &check))
		check = 0;
	add(walk, (struct runtime_frame){.function = address,
					 .position = line,
					 .check = check | is_entry,
					 .owner = RUNTIME_FILE_OWNER});
}

/* Add the entry of a frame that is left out: its loop runs still. */
static void add_entry(struct walk *walk, bool is_entry)
{
	if (is_entry)
		add(walk, (struct runtime_frame){.check = 1});
}

/* Place 0: the frame has not begun. */
static int add_function(struct walk *walk, uint64_t frame, uint64_t place, bool is_entry)
{
	const struct runtime_recipe *recipe = walk->recipe;
	uint64_t function, check;
	uint32_t line = 0;
	int err = word_at(walk, frame, recipe->function_at, &function);

	if (!err && function && (recipe->via_at || recipe->via_is_first) &&
	    word_at(walk, function, recipe->via_at, &function))
		function = 0;
	if (err)
		return err;
	if (!function) {
		add_entry(walk, is_entry);
		return 0;
	}
	if (place && half_at(walk, place, recipe->sections.line_at, &line))
		line = 0;
	if (runtime_check_read(walk->memory, &recipe->check, function, false, &check))
		check = 0;
	add(walk, (struct runtime_frame){
			  .function = function, .position = line, .check = check | is_entry});
	return 0;
}

/* Add the program itself, if the outermost section begins with it. */
static int add_program(struct walk *walk)
{
	const struct runtime_sections *s = &walk->recipe->sections;
	uint32_t kind;

	walk->ends = true;
	if (s->program_mask && !half_at(walk, walk->array, walk->recipe->entry_at, &kind) &&
	    (kind & s->program_mask) == s->program_value)
		add_file(walk, walk->place, true);
	return 0;
}

static int leave(struct walk *walk)
{
	const struct runtime_sections *s = &walk->recipe->sections;
	uint64_t outer;
	int err = word_at(walk, walk->section, s->outer_at, &outer);

	if (err)
		return err;
	if (!outer)
		return add_program(walk);
	if (!walk->last_is_entry && walk->kind < 32 && s->loop_kinds >> walk->kind & 1)
		add(walk, (struct runtime_frame){.check = 1});
	return enter(walk, outer);
}

static uint32_t kind_of(const struct runtime_sections *s, uint32_t entry)
{
	for (uint32_t i = 0; i < s->kind_count && i < RUNTIME_FRAME_KINDS_MAX; i++) {
		if ((entry & s->kind[i].mask) == s->kind[i].value)
			return s->kind[i].frame;
	}
	return 0;
}

static int step(struct walk *walk)
{
	const struct runtime_sections *s = &walk->recipe->sections;
	uint64_t frame = frame_of(walk, walk->number), place = walk->place, back;
	uint32_t entry, caller, kind;
	bool has_begun;
	int err;

	if (walk->number < 0)
		return leave(walk);
	err = half_at(walk, frame, s->caller_at, &caller);
	err = err ?: half_at(walk, frame, walk->recipe->entry_at, &entry);
	if (err)
		return err;
	if ((int32_t)caller >= walk->number)
		return -EFAULT;
	walk->number = (int32_t)caller;
	kind = kind_of(s, entry);
	if (!kind)
		return 0;
	err = word_at(walk, frame, s->place_at, &walk->place);
	err = err ?: word_at(walk, frame, s->return_at, &back);
	if (err)
		return err;
	walk->last_is_entry = !back;
	has_begun = walk->count || place != walk->place;
	if (kind == RUNTIME_SECTION_FUNCTION)
		return add_function(walk, frame, has_begun ? place : 0, !back);
	if (has_begun)
		add_file(walk, place, !back);
	else
		add_entry(walk, !back);
	return 0;
}

static bool is_in(const struct runtime_range *range, uint64_t pc)
{
	return pc >= range->start && pc < range->end;
}

/* Set walk->place to that of the call of a frame that ends, if there is one. */
static int find_ending(struct walk *walk)
{
	const struct runtime_sections *s = &walk->recipe->sections;
	uint64_t frame, place;
	uint32_t top, entry;
	int err = half_at(walk, walk->section, s->top_at, &top);

	if (err || (int32_t)top <= walk->number || (int32_t)top < 0)
		return err;
	frame = frame_of(walk, (int32_t)top);
	if (!half_at(walk, frame, walk->recipe->entry_at, &entry) && kind_of(s, entry) &&
	    !word_at(walk, frame, s->place_at, &place))
		walk->place = place;
	return 0;
}

/* Leave out the newest frame. */
static int skip_newest(struct walk *walk)
{
	uint32_t caller;
	int err = half_at(walk, frame_of(walk, walk->number), walk->recipe->sections.caller_at,
			  &caller);

	walk->number = !err && (int32_t)caller < walk->number ? (int32_t)caller : -1;
	return err;
}

int runtime_sections_walk(const struct process_memory *memory, const struct runtime_recipe *recipe,
			  uint64_t ip, uint64_t section, uint64_t before, size_t max,
			  struct runtime_frame *ret, size_t *ret_count)
{
	const struct runtime_sections *s = &recipe->sections;
	struct walk walk = {.memory = memory, .recipe = recipe, .frames = ret, .max = max};
	int err = word_at(&walk, before, s->newest_place_at, &walk.place);

	err = err ?: enter(&walk, section);
	if (!err && is_in(&s->ending, ip))
		err = find_ending(&walk);
	if (!err && walk.number >= 0 && is_in(&s->unfilled, ip))
		err = skip_newest(&walk);
	/* Sections could be a circle. */
	for (size_t i = 0; !walk.ends && !err && walk.count < max && i < 2 * max; i++)
		err = step(&walk);
	*ret_count = walk.count;
	return err;
}
