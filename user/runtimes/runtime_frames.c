/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/runtime_frames.h"

#include <stdbool.h>

#include "runtimes/runtime_check.h"
#include "runtimes/runtime_sections.h"

struct walk {
	const struct process_memory *memory;
	const struct runtime_recipe *recipe;
	const struct runtime_thread *thread;
	uint32_t flags; /* of the loop that the thread runs in */
	uint64_t newest;
	uint64_t before; /* the address before the last step */
	uint64_t scope;	 /* where the further words of the current frame are */
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

/* Returns the address of a word of a frame, which can have further words elsewhere. */
static uint64_t frame_address(const struct walk *walk, uint64_t frame, int64_t offset)
{
	const struct runtime_recipe *recipe = walk->recipe;

	if (recipe->more_bytes && offset >= RUNTIME_MORE_AT)
		return walk->scope + (uint64_t)(offset - RUNTIME_MORE_AT + recipe->more_offset);
	return frame + (uint64_t)offset;
}

static int frame_word(const struct walk *walk, uint64_t frame, int64_t offset, uint64_t *ret)
{
	return word_at(walk, frame_address(walk, frame, offset), 0, ret);
}

static int entry_bits(const struct walk *walk, uint64_t frame, uint32_t *ret)
{
	return half_at(walk, frame_address(walk, frame, walk->recipe->entry_at), 0, ret);
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
		int err;

		walk->before = address;
		err = word_at(walk, address, recipe->step[i], &address);
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
static int add_function(struct walk *walk, uint64_t frame, uint64_t function, uint64_t owner,
			bool is_entry)
{
	const struct runtime_recipe *recipe = walk->recipe;
	struct runtime_frame ret = {
		.function = function, .position = position_of(walk, frame), .owner = owner};
	bool is_native = false;
	uint64_t check;

	if (recipe->native_mask) {
		uint32_t kind;
		int err = half_at(walk, function, recipe->native_at, &kind);

		if (err)
			return err;
		is_native = (kind & recipe->native_mask) == recipe->native_value;
	}
	if (runtime_check_read(walk->memory, &recipe->check, function, is_native, &check) ||
	    runtime_check_add_owner(walk->memory, &recipe->owner, owner, &check))
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
	return add_function(walk, other, function, 0, false);
}

/* Returns the kind of a possible owner, 0 if it cannot be read. */
static uint32_t owner_kind(const struct walk *walk, uint64_t object)
{
	uint32_t kind;

	if (half_at(walk, object, walk->recipe->owner.kind_at, &kind))
		return 0;
	return kind & walk->recipe->owner.kind_mask;
}

/* Returns the owner of the function of a frame, or 0. */
static uint64_t find_owner(struct walk *walk, uint64_t frame)
{
	const struct runtime_owner *owner = &walk->recipe->owner;
	uint64_t object;
	uint32_t kind, entry;

	for (uint32_t i = 0; i < RUNTIME_SCOPES_MAX; i++) {
		if (frame_word(walk, frame, owner->object_at, &object))
			return 0;
		kind = owner_kind(walk, object);
		if (kind == owner->via_value) {
			if (word_at(walk, object, owner->via_at, &object))
				return 0;
			kind = owner_kind(walk, object);
		}
		if (kind == owner->kind_value)
			return object;
		if (entry_bits(walk, frame, &entry) || entry & owner->outermost_mask ||
		    frame_word(walk, frame, owner->outer_at, &object))
			return 0;
		walk->scope = object & ~(uint64_t)owner->outer_clear;
	}
	return 0;
}

/* Returns true if a frame has a function word that says nothing. */
static bool lacks_position(const struct walk *walk, uint64_t frame, uint32_t entry)
{
	const struct runtime_recipe *recipe = walk->recipe;
	uint64_t function, position;

	return recipe->needs_position && (entry & recipe->other_mask) >= recipe->needs_position &&
	       !frame_word(walk, frame, recipe->function_at, &function) && function &&
	       !frame_word(walk, frame, recipe->position_at, &position) && !position;
}

static bool is_last(const struct walk *walk, uint64_t frame, uint32_t entry)
{
	const struct runtime_recipe *recipe = walk->recipe;

	return recipe->last_mask && (entry & recipe->last_mask) == recipe->last_value &&
	       !lacks_position(walk, frame, entry);
}

static int find_function(const struct walk *walk, uint64_t frame, uint32_t entry,
			 uint64_t *ret_function, bool *ret_may_have_owner)
{
	const struct runtime_recipe *recipe = walk->recipe;
	uint64_t function;
	int err = frame_word(walk, frame, recipe->function_at, &function);

	*ret_function = 0;
	*ret_may_have_owner = false;
	if (err)
		return err;
	function &= ~(uint64_t)recipe->function_clear;
	if (!function && recipe->other_mask && (entry & recipe->other_mask) == recipe->other_value)
		return frame_word(walk, frame, recipe->other_at, ret_function);
	if (lacks_position(walk, frame, entry))
		return 0;
	if (function && (recipe->via_at || recipe->via_is_first) &&
	    word_at(walk, function, recipe->via_at, &function))
		function = 0;
	*ret_may_have_owner = function && recipe->owner.kind_mask;
	*ret_function = function;
	return 0;
}

static int previous_of(const struct walk *walk, uint64_t frame, uint64_t *ret)
{
	const struct runtime_recipe *recipe = walk->recipe;

	if (recipe->previous_at != RUNTIME_NO_OFFSET)
		return frame_word(walk, frame, recipe->previous_at, ret);
	*ret = frame + (uint64_t)(int64_t)recipe->stride;
	return 0;
}

static int add_frame(struct walk *walk, uint64_t frame, uint64_t *ret_previous)
{
	const struct runtime_recipe *recipe = walk->recipe;
	uint64_t function, owner = 0;
	bool is_entry, may_have_owner;
	uint32_t entry;
	int err = 0;

	if (recipe->more_bytes)
		err = word_at(walk, frame, recipe->more_at, &walk->scope);
	err = err ?: entry_bits(walk, frame, &entry);
	*ret_previous = 0;
	if (err || is_last(walk, frame, entry))
		return err;
	err = find_function(walk, frame, entry, &function, &may_have_owner);
	err = err ?: previous_of(walk, frame, ret_previous);
	if (err)
		return err;
	is_entry = (entry & recipe->entry_mask) >= recipe->entry_value;
	if (is_entry && recipe->entry_is_mark) {
		add(walk, (struct runtime_frame){.position = frame, .check = 1});
		return 0;
	}
	if (!function)
		return add_other(walk, frame);
	if (may_have_owner)
		owner = find_owner(walk, frame);
	return add_function(walk, frame, function, owner, is_entry);
}

int runtime_frames_walk(const struct process_memory *memory, const struct runtime_recipe *recipe,
			const struct runtime_thread *thread, size_t max, struct runtime_frame *ret,
			size_t *ret_count)
{
	struct walk walk = {
		.memory = memory, .recipe = recipe, .thread = thread, .frames = ret, .max = max};
	int err = find_newest(&walk);
	uint64_t frame = walk.newest;

	*ret_count = 0;
	if (!err && frame && recipe->sections.exists)
		return runtime_sections_walk(memory, recipe, thread->ip, frame, walk.before, max,
					     ret, ret_count);
	/* Frames that are left out could be a circle. */
	for (size_t i = 0; frame && !err && walk.count < max && i < 2 * max; i++)
		err = add_frame(&walk, frame, &frame);
	*ret_count = walk.count;
	return err;
}
