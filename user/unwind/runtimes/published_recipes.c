/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/runtimes/published_recipes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void published_recipes_end(struct runtime_recipes *recipes, struct recipe_process *one,
			   uint64_t now_ns)
{
	if (!one->recipe)
		return;
	recipes->tables->unpublish_recipe(recipes->tables->context, one->process->pid);
	if (one->recipe->expected)
		unwind_wake(recipes->woken, shared_recipe_wait_key(one->recipe));
	one->recipe->processes--;
	one->recipe->ended_ns = now_ns;
	one->recipe = NULL;
	owner_budget_release(&recipes->budget, one->owner, 1);
}

int published_recipes_add(struct runtime_recipes *recipes, struct recipe_process *one,
			  struct shared_recipe *recipe)
{
	struct runtime_recipe published = recipe->known.recipe;
	int err = owner_budget_charge(&recipes->budget, one->owner, 1);

	if (err)
		return err;
	published.stack_top = one->stack_top;
	err = recipes->tables->publish_recipe(recipes->tables->context, one->process->pid,
					      &published);
	if (err) {
		owner_budget_release(&recipes->budget, one->owner, 1);
		return err;
	}
	one->recipe = recipe;
	one->first = one->first ?: recipe->number;
	recipe->processes++;
	return 0;
}

void published_recipes_again(struct runtime_recipes *recipes, struct recipe_process *one)
{
	struct shared_recipe *recipe = one->recipe;

	if (!recipe)
		return;
	published_recipes_end(recipes, one, one->asked_ns);
	recipes->refused += published_recipes_add(recipes, one, recipe) != 0;
}

/* Sets *bytes to at least the end of a word at an offset. Returns false if that is out of bounds.
 */
static bool covers(uint16_t *bytes, int16_t offset, uint32_t size_bytes, uint32_t most)
{
	if (offset < 0 || offset + size_bytes > most)
		return false;
	if (offset + size_bytes > *bytes)
		*bytes = (uint16_t)(offset + size_bytes);
	return true;
}

/* A word of a frame, or one of its further ones. */
static bool covers_part(struct runtime_recipe *recipe, int16_t offset, uint32_t size_bytes)
{
	if (!recipe->more_bytes)
		return covers(&recipe->frame_bytes, offset, size_bytes, RUNTIME_FRAME_BYTES_MAX);
	if (offset >= RUNTIME_MORE_AT)
		return offset - RUNTIME_MORE_AT + size_bytes <= recipe->more_bytes;
	return covers(&recipe->frame_bytes, offset, size_bytes, RUNTIME_MORE_AT);
}

static bool covers_frame(struct runtime_recipe *recipe, int16_t offset)
{
	return covers_part(recipe, offset, 8);
}

static bool is_none_or_covered(struct runtime_recipe *recipe, int16_t offset)
{
	return offset == RUNTIME_NO_OFFSET || covers_frame(recipe, offset);
}

static bool set_section_bytes(struct runtime_recipe *recipe)
{
	struct runtime_sections *sections = &recipe->sections;
	uint16_t *bytes = &sections->section_bytes;

	*bytes = 0;
	return !sections->exists ||
	       (covers(bytes, sections->array_at, 8, RUNTIME_OBJECT_BYTES_MAX) &&
		covers(bytes, sections->number_at, 4, RUNTIME_OBJECT_BYTES_MAX) &&
		covers(bytes, sections->kind_at, 4, RUNTIME_OBJECT_BYTES_MAX) &&
		covers(bytes, sections->top_at, 4, RUNTIME_OBJECT_BYTES_MAX) &&
		covers_part(recipe, sections->caller_at, 4) &&
		covers_frame(recipe, sections->place_at) &&
		covers_frame(recipe, sections->return_at) &&
		sections->kind_count <= RUNTIME_FRAME_KINDS_MAX &&
		sections->file_step_count <= RUNTIME_FILE_STEPS_MAX);
}

static bool set_frame_bytes(struct runtime_recipe *recipe)
{
	recipe->frame_bytes = 0;
	return recipe->more_bytes <= RUNTIME_MORE_BYTES_MAX &&
	       (!recipe->more_bytes ||
		covers(&recipe->frame_bytes, recipe->more_at, 8, RUNTIME_MORE_AT)) &&
	       covers_frame(recipe, recipe->function_at) &&
	       (recipe->previous_at == RUNTIME_NO_OFFSET
			? recipe->stride != 0
			: covers_frame(recipe, recipe->previous_at)) &&
	       covers_part(recipe, recipe->entry_at, 4) &&
	       is_none_or_covered(recipe, recipe->position_at) &&
	       (!recipe->needs_position || recipe->position_at != RUNTIME_NO_OFFSET) &&
	       (!recipe->other_mask || covers_frame(recipe, recipe->other_at)) &&
	       (!recipe->stand_in.class_pointer ||
		covers_frame(recipe, recipe->stand_in.object_at)) &&
	       set_section_bytes(recipe);
}

static bool set_owner_bytes(struct runtime_recipe *recipe)
{
	struct runtime_owner *owner = &recipe->owner;

	owner->bytes = 0;
	if (!owner->kind_mask)
		return true;
	return recipe->more_bytes && owner->object_at >= RUNTIME_MORE_AT &&
	       owner->outer_at >= RUNTIME_MORE_AT && covers_frame(recipe, owner->object_at) &&
	       covers_frame(recipe, owner->outer_at) && owner->check_bytes % 8 == 0 &&
	       covers(&owner->bytes, owner->kind_at, 4, RUNTIME_OWNER_BYTES_MAX) &&
	       covers(&owner->bytes, owner->via_at, 8, RUNTIME_OWNER_BYTES_MAX) &&
	       covers(&owner->bytes, owner->check_offset, owner->check_bytes,
		      RUNTIME_OWNER_BYTES_MAX);
}

static bool set_object_bytes(struct runtime_recipe *recipe)
{
	const struct runtime_check *check = &recipe->check;
	uint16_t *native = &recipe->native_bytes, *object = &recipe->object_bytes;
	bool fits = covers(native, check->offset, check->size_bytes, RUNTIME_OBJECT_BYTES_MAX);

	if (recipe->native_mask)
		fits = fits && covers(native, recipe->native_at, 4, RUNTIME_OBJECT_BYTES_MAX);
	for (uint32_t i = 0; i < check->native_names; i++)
		fits = fits && covers(native, check->name_at[i], 8, RUNTIME_OBJECT_BYTES_MAX);
	*object = *native;
	if (check->links_mask)
		fits = fits && covers(object, check->links_at, 4, RUNTIME_OBJECT_BYTES_MAX);
	for (uint32_t i = 0; i < check->word_count; i++)
		fits = fits && covers(object, check->word[i], 8, RUNTIME_OBJECT_BYTES_MAX);
	for (uint32_t i = 0; i < check->name_count; i++)
		fits = fits && covers(object, check->name_at[i], 8, RUNTIME_OBJECT_BYTES_MAX);
	return fits;
}

/* Widen the words of a layout that are read to one at an offset. Returns false if it is too far. */
static bool covers_native(struct runtime_native_layout *layout, int16_t offset)
{
	int from = layout->bytes_from, end = from + layout->bytes;

	if (offset % 4 || offset < -4096 || offset > 4096)
		return false;
	if (!layout->bytes)
		from = end = offset;
	from = offset < from ? offset : from;
	end = offset + 8 > end ? offset + 8 : end;
	if (end - from > RUNTIME_FRAME_BYTES_MAX)
		return false;
	layout->bytes_from = (int16_t)from;
	layout->bytes = (uint16_t)(end - from);
	return true;
}

static bool patterns_fit(const struct runtime_native_layout *layout)
{
	for (uint32_t i = 0; i < RUNTIME_ENTER_CALLS_MAX; i++) {
		if (layout->enter_call[i].size_bytes > RUNTIME_PATTERN_BYTES_MAX)
			return false;
	}
	return true;
}

static bool set_native_bytes(struct runtime_native_frames *native)
{
	bool fits = native->range_count <= RUNTIME_NATIVE_RANGES_MAX &&
		    native->layout_count <= RUNTIME_NATIVE_LAYOUTS_MAX;

	for (uint32_t i = 0; fits && i < native->layout_count; i++) {
		struct runtime_native_layout *layout = &native->layout[i];

		layout->bytes_from = 0;
		layout->bytes = 0;
		fits = layout->step_count <= RUNTIME_NATIVE_STEPS_MAX &&
		       layout->position_register < 16 && layout->entry_register < 16 &&
		       layout->prologue_bytes <= RUNTIME_PROLOGUE_BYTES_MAX &&
		       layout->epilogue_bytes <= RUNTIME_EPILOGUE_BYTES_MAX &&
		       patterns_fit(layout) && covers_native(layout, layout->function_at) &&
		       (layout->position_at == RUNTIME_NO_OFFSET ||
			covers_native(layout, layout->position_at)) &&
		       (!layout->guard_mask || covers_native(layout, layout->guard_at));
	}
	for (uint32_t i = 0; fits && i < native->range_count; i++)
		fits = native->range[i].start < native->range[i].end &&
		       native->range[i].layout < native->layout_count;
	return fits;
}

/* Returns false if the BPF program cannot follow a recipe, which was made from hostile memory. */
static bool complete(struct runtime_recipe *recipe)
{
	const struct runtime_check *check = &recipe->check;

	recipe->native_bytes = recipe->object_bytes = 0;
	return check->size_bytes <= RUNTIME_CHECK_BYTES_MAX && check->size_bytes % 8 == 0 &&
	       check->word_count <= RUNTIME_CHECK_WORDS_MAX &&
	       check->name_count <= RUNTIME_CHECK_NAMES_MAX &&
	       check->native_names <= check->name_count &&
	       check->link_count <= RUNTIME_CHECK_LINKS_MAX &&
	       recipe->step_count <= RUNTIME_STEPS_MAX && recipe->loop_count <= RUNTIME_LOOPS_MAX &&
	       recipe->switch_count <= RUNTIME_SWITCHES_MAX && recipe->frame_register < 16 &&
	       recipe->position_register < 16 && recipe->compiled.fill_count <= RUNTIME_FILLS_MAX &&
	       set_native_bytes(&recipe->native) &&
	       (recipe->native.range_count || set_frame_bytes(recipe)) && set_owner_bytes(recipe) &&
	       set_object_bytes(recipe);
}

static bool is_same_recipe(const struct shared_recipe *recipe, const struct runtime_known *known)
{
	return recipe && recipe->known.reader == known->reader &&
	       !memcmp(&recipe->known.recipe, &known->recipe, sizeof(known->recipe)) &&
	       !memcmp(&recipe->known.layout, &known->layout, sizeof(known->layout));
}

static int put(struct runtime_recipes *recipes, struct recipe_process *one,
	       const struct runtime_known *known, const struct runtime_range *own, bool expected,
	       uint64_t now_ns)
{
	struct shared_recipe *recipe = calloc(1, sizeof(*recipe));
	int err;

	if (!recipe)
		return -ENOMEM;
	recipe->known = *known;
	recipe->known.recipe.compiled.callers = *own;
	recipe->expected = expected;
	recipe->engine = one->engine;
	recipe->own = *own;
	recipe->ended_ns = now_ns;
	err = complete(&recipe->known.recipe) ? shared_recipes_add(&recipes->shared, recipe)
					      : -EBADMSG;
	if (err) {
		free(recipe);
		return err;
	}
	published_recipes_end(recipes, one, now_ns);
	err = published_recipes_add(recipes, one, recipe);
	recipes->refused += err != 0;
	return err;
}

int published_recipes_take(struct runtime_recipes *recipes, struct recipe_process *one,
			   const struct runtime_known *known, const struct runtime_range *own,
			   uint64_t now_ns)
{
	struct shared_recipe *recipe = one->recipe;
	struct runtime_known same = *known;

	if (recipe) {
		same.recipe.number = recipe->number;
		same.recipe.compiled.callers = recipe->known.recipe.compiled.callers;
		if (complete(&same.recipe) && is_same_recipe(recipe, &same)) {
			recipe->expected = false;
			recipe->own = *own;
			unwind_wake(recipes->woken, shared_recipe_wait_key(recipe));
			return 0;
		}
	}
	return put(recipes, one, known, own, false, now_ns);
}

int published_recipes_expect(struct runtime_recipes *recipes, struct recipe_process *one,
			     const struct runtime_known *known, const struct runtime_range *own,
			     uint64_t now_ns)
{
	return put(recipes, one, known, own, true, now_ns);
}
