/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "runtimes/cpython/code_object.h"
#include "runtimes/cpython/cpython.h"
#include "runtimes/cpython/file.h"
#include "runtimes/cpython/live_check.h"

#define CHECK_TRIES 4 /* the threads of the process run while it is read */

/* Bits of a tagged pointer, since 3.14. */
#define TAG_BITS 3

/* From 3.12 on, an entry is a frame of the interpreter itself: FRAME_OWNED_BY_CSTACK or above. */
#define OWNER_MASK	  0xff
#define OWNER_INTERPRETER 3

/* The code object's layout, and the address of the type of code objects. */
struct words {
	struct cpython_layout layout;
	uint64_t code_type;
};

_Static_assert(sizeof(struct words) <= sizeof(struct runtime_layout), "the layout has no room");
_Static_assert(sizeof(struct cpython_file) <= sizeof(struct runtime_facts), "facts have no room");

static void fill_frames(const struct cpython_layout *layout, struct runtime_recipe *ret)
{
	ret->function_at = (int16_t)layout->frame_code;
	ret->position_at = (int16_t)layout->frame_position;
	ret->previous_at = (int16_t)layout->frame_previous;
	ret->entry_at = (int16_t)layout->frame_entry;
	ret->position_mask = UINT64_MAX;
	ret->check = cpython_code_check(layout);
	if (layout->minor < 11) {
		ret->position_mask = UINT32_MAX; /* the line is in the same word */
	} else if (layout->minor == 11) {
		ret->entry_mask = 0xff;
		ret->entry_value = 1;
	} else {
		ret->entry_mask = OWNER_MASK;
		ret->entry_value = OWNER_INTERPRETER;
		ret->entry_is_mark = true;
	}
	if (layout->minor >= 14)
		ret->function_clear = TAG_BITS;
}

static void move(struct runtime_range *range, uint64_t bias)
{
	range->start += bias;
	range->end += bias;
}

static void fill_loops(const struct cpython_file *file, const struct cpython_layout *layout,
		       uint64_t bias, struct runtime_recipe *ret)
{
	const struct cpython_layout *known = cpython_layout_of(&file->version);

	memcpy(ret->loops, file->loops, sizeof(ret->loops));
	ret->loop_count = file->loop_count;
	ret->unsettled = file->unsettled;
	/* The code was searched for a store to another member. */
	if (!known || known->thread_frame != layout->thread_frame)
		ret->unsettled = file->loops[0];
	move(&ret->unsettled, bias);
	for (uint32_t i = 0; i < ret->loop_count; i++)
		move(&ret->loops[i], bias);
}

int cpython_recipe(const struct cpython_file *file, uint64_t bias,
		   const struct process_memory *memory, struct runtime_recipe *ret,
		   struct runtime_layout *ret_layout, struct engine_version *ret_version)
{
	uint64_t runtime = file->runtime + bias;
	struct runtime_recipe made = {0};
	struct words words = {0};
	int err;

	*ret_version = file->version;
	err = cpython_layout_find(memory, runtime, ret_version, &words.layout);
	if (err)
		return err == -EFAULT ? -EBADMSG : err;
	if (file->code_type)
		words.code_type = file->code_type + bias;
	fill_frames(&words.layout, &made);
	fill_loops(file, &words.layout, bias, &made);
	err = -EBADMSG;
	for (int i = 0; i < CHECK_TRIES && err == -EBADMSG; i++) {
		process_memory_refresh(memory);
		err = cpython_live_check(memory, runtime, &words.layout, &made, &words.code_type);
	}
	/* A thread that has no frame yet shows where the frames will be. */
	if (err && !(err == -ENODATA && made.step_count && words.code_type))
		return err == -EFAULT ? -EBADMSG : err;
	*ret = made;
	*ret_layout = (struct runtime_layout){0};
	memcpy(ret_layout, &words, sizeof(words));
	return err;
}

static int facts(const struct elf_file *elf, struct runtime_facts *ret)
{
	struct cpython_file file;
	int err = cpython_file_read(elf, &file);

	if (err)
		return err;
	*ret = (struct runtime_facts){0};
	memcpy(ret, &file, sizeof(file));
	return 0;
}

static int recipe(const struct runtime_facts *facts_, const struct runtime_process *process,
		  const struct process_memory *memory, struct runtime_recipe *ret,
		  struct runtime_layout *ret_layout, struct engine_version *ret_version)
{
	struct cpython_file file;

	memcpy(&file, facts_, sizeof(file));
	if (!file.loop_count || file.loop_count > RUNTIME_LOOPS_MAX)
		return -EINVAL;
	return cpython_recipe(&file, process->bias, memory, ret, ret_layout, ret_version);
}

static void move_recipe(struct runtime_recipe *recipe, struct runtime_layout *layout, uint64_t by)
{
	struct words words;

	memcpy(&words, layout, sizeof(words));
	words.code_type += by;
	memcpy(layout, &words, sizeof(words));
	if (recipe->holder.at)
		recipe->holder.at += by;
	move(&recipe->unsettled, by);
	for (uint32_t i = 0; i < recipe->loop_count && i < RUNTIME_LOOPS_MAX; i++)
		move(&recipe->loops[i], by);
}

static int function(const struct process_memory *memory, const struct runtime_recipe *with,
		    const struct runtime_layout *layout, uint64_t object, uint64_t owner,
		    struct runtime_function *ret)
{
	struct words words;

	memcpy(&words, layout, sizeof(words));
	return cpython_code_read(memory, &words.layout, words.code_type, object, ret);
}

static bool knows(const struct engine_version *version)
{
	return cpython_layout_of(version);
}

const struct runtime_reader cpython_reader = {
	.engine = &engine_cpython,
	.symbol = "_PyEval_EvalFrameDefault",
	.knows = knows,
	.facts = facts,
	.recipe = recipe,
	.move = move_recipe,
	.function = function,
};
