/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/runtime_frames.h"

#include <stdbool.h>

#include "runtimes/runtime_check.h"

struct walk {
	const struct process_memory *memory;
	const struct runtime_recipe *recipe;
	const struct runtime_thread *thread;
	uint32_t flags; /* of the loop that the thread runs in */
	uint64_t newest;
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

static uint32_t loop_flags(const struct runtime_recipe *recipe, uint64_t ip)
{
	for (uint32_t i = 0; i < recipe->loop_count && i < RUNTIME_LOOPS_MAX; i++) {
		if (ip >= recipe->loops[i].start && ip < recipe->loops[i].end)
			return recipe->loops[i].flags;
	}
	return 0;
}

static uint64_t frame_in_register(const struct walk *walk)
{
	return walk->thread->registers[walk->recipe->frame_register & 15];
}

/* Returns the state of the thread if it holds the runtime's lock, else 0. */
static uint64_t held_state(const struct walk *walk)
{
	const struct runtime_holder *holder = &walk->recipe->holder;
	uint64_t state, thread;

	if (!holder->at || word_at(walk, holder->at, 0, &state) || !state ||
	    word_at(walk, state, holder->thread_at, &thread))
		return 0;
	return thread == walk->thread->thread_pointer ? state : 0;
}

static int find_newest(struct walk *walk)
{
	const struct runtime_recipe *recipe = walk->recipe;
	uint64_t address = (uint64_t)recipe->base, held, ignored;
	uint32_t first = 0;

	walk->flags = loop_flags(recipe, walk->thread->ip);
	if (walk->flags & RUNTIME_LOOP_HAS_FRAME) {
		walk->newest = frame_in_register(walk);
		if (!word_at(walk, walk->newest, recipe->function_at, &ignored))
			return 0;
		walk->newest = 0;
	}
	if (recipe->base_kind == RUNTIME_BASE_THREAD_POINTER)
		address += walk->thread->thread_pointer;
	held = held_state(walk);
	if (held) {
		address = held;
		first = recipe->holder.step;
	}
	for (uint32_t i = first; i < recipe->step_count && i < RUNTIME_STEPS_MAX && address; i++) {
		int err = word_at(walk, address, recipe->step[i], &address);

		if (err)
			return err;
	}
	walk->newest = address;
	return 0;
}

static uint64_t position_of(const struct walk *walk, uint64_t frame)
{
	const struct runtime_recipe *recipe = walk->recipe;
	uint32_t flags = frame == walk->newest ? walk->flags : 0;
	uint64_t position = 0;

	if (flags & RUNTIME_LOOP_NO_POSITION)
		return 0;
	if (flags & RUNTIME_LOOP_HAS_POSITION && frame_in_register(walk) == frame)
		position = walk->thread->registers[recipe->position_register & 15];
	else if (recipe->position_at == RUNTIME_NO_OFFSET ||
		 word_at(walk, frame, recipe->position_at, &position))
		return 0;
	return position & recipe->position_mask;
}

static void add(struct walk *walk, struct runtime_frame frame)
{
	if (walk->count < walk->max)
		walk->frames[walk->count++] = frame;
}

/* Add the frame of a function. */
static int add_function(struct walk *walk, uint64_t frame, uint64_t function, bool is_entry)
{
	const struct runtime_recipe *recipe = walk->recipe;
	struct runtime_frame ret = {.function = function, .position = position_of(walk, frame)};
	bool is_native = false;
	uint64_t check;

	if (recipe->native_mask) {
		uint32_t kind;
		int err = half_at(walk, function, recipe->native_at, &kind);

		if (err)
			return err;
		is_native = (kind & recipe->native_mask) == recipe->native_value;
	}
	if (runtime_check_read(walk->memory, &recipe->check, function, is_native, &check))
		check = 0;
	ret.check = check | (is_entry && !is_native);
	add(walk, ret);
	return 0;
}

/* Add the frame that a frame without a function stands for. */
static int add_other(struct walk *walk, uint64_t frame)
{
	const struct runtime_stand_in *s = &walk->recipe->stand_in;
	uint64_t wanted, object, class, other, parent, function;
	const struct runtime_frame missing = {0};
	int err;

	if (!s->class_pointer || word_at(walk, s->class_pointer, 0, &wanted) || !wanted ||
	    word_at(walk, frame, s->object_at, &object) ||
	    word_at(walk, object, s->class_at, &class) || class != wanted)
		return 0;
	if (s->frame_at == RUNTIME_NO_OFFSET || word_at(walk, object, s->frame_at, &other) ||
	    word_at(walk, other, walk->recipe->function_at, &function) || !function ||
	    word_at(walk, object, s->parent_at, &parent)) {
		add(walk, missing);
		return 0;
	}
	err = parent ? word_at(walk, parent, s->parent_at, &parent) : 0;
	if (err)
		return err;
	if (parent)
		add(walk, missing);
	/* The loop runs for the other generator: this one is no entry. */
	return add_function(walk, other, function, false);
}

static int add_frame(struct walk *walk, uint64_t frame, uint64_t *ret_previous)
{
	const struct runtime_recipe *recipe = walk->recipe;
	uint64_t function;
	uint32_t entry;
	bool is_entry;
	int err = word_at(walk, frame, recipe->function_at, &function);

	err = err ?: word_at(walk, frame, recipe->previous_at, ret_previous);
	err = err ?: half_at(walk, frame, recipe->entry_at, &entry);
	if (err)
		return err;
	function &= ~(uint64_t)recipe->function_clear;
	is_entry = (entry & recipe->entry_mask) >= recipe->entry_value;
	if (is_entry && recipe->entry_is_mark) {
		add(walk, (struct runtime_frame){.position = frame, .check = 1});
		return 0;
	}
	return function ? add_function(walk, frame, function, is_entry) : add_other(walk, frame);
}

int runtime_frames_walk(const struct process_memory *memory, const struct runtime_recipe *recipe,
			const struct runtime_thread *thread, size_t max, struct runtime_frame *ret,
			size_t *ret_count)
{
	struct walk walk = {
		.memory = memory, .recipe = recipe, .thread = thread, .frames = ret, .max = max};
	int err = find_newest(&walk);
	uint64_t frame = walk.newest;

	/* Frames that are left out could be a circle. */
	for (size_t i = 0; frame && !err && walk.count < max && i < 2 * max; i++)
		err = add_frame(&walk, frame, &frame);
	*ret_count = walk.count;
	return err;
}
