/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/runtimes/native_merge.h"

#include <stddef.h>

#define INTERPRETER ((uint64_t)JITBPF_FRAME_INTERPRETER << JITBPF_FRAME_KIND_SHIFT)
#define VALUE_MASK  ((1ull << JITBPF_FRAME_KIND_SHIFT) - 1)

/* Returns the layout of the frames of code, or NULL: they hold no functions. */
static const struct runtime_native_layout *layout_at(const struct runtime_recipe *recipe,
						     uint64_t pc)
{
	for (uint32_t i = 0; i < recipe->native.range_count && i < RUNTIME_NATIVE_RANGES_MAX; i++) {
		const struct runtime_native_range *range = &recipe->native.range[i];

		if (pc >= range->start && pc < range->end)
			return &recipe->native.layout[range->layout % RUNTIME_NATIVE_LAYOUTS_MAX];
	}
	return NULL;
}

/* Returns true if the publisher of the code of a frame has told what it is called. */
static bool is_published(const struct native_stack *native,
			 const struct runtime_native_layout *layout, uint64_t pc)
{
	return layout->flags & RUNTIME_NATIVE_COMPILED && native->is_unknown &&
	       !native->is_unknown(native->context, pc);
}

/* Returns the words of a frame beyond the kernel's walk, or NULL. *next: as in the merge. */
static const struct runtime_words *words_beyond(const struct runtime_stack *runtime,
						uint64_t frame_pointer, uint32_t *next)
{
	for (uint32_t i = *next; i < runtime->count; i++) {
		if (!runtime->frames[i].owner || runtime->frames[i].owner != frame_pointer)
			continue;
		*next = i + 1;
		return &runtime->words[i];
	}
	return NULL;
}

/* Returns true if a frame with a function runs by code that belongs to it: its callee. */
static bool is_of_function(const struct native_stack *native, const struct runtime_recipe *recipe,
			   const struct runtime_native_layout *layout, uint32_t callee)
{
	uint64_t pc = native->addresses[callee] - !!callee;

	for (uint32_t i = 0; i < recipe->loop_count && i < RUNTIME_LOOPS_MAX; i++)
		if (!(layout->flags & RUNTIME_NATIVE_COMPILED) && pc >= recipe->loops[i].start &&
		    pc < recipe->loops[i].end)
			return true;
	return false;
}

void runtime_merge_native(const struct native_stack *native, const struct runtime_stack *runtime,
			  struct merged_stack *ret)
{
	const struct runtime_native_layout *layout;
	uint32_t next = 0;

	ret->count = 0;
	ret->cut = false;
	for (uint32_t i = 0; i < native->count; i++) {
		uint64_t address = native->addresses[i], pc = address - !!i;
		const struct runtime_words *words = NULL;
		bool is_settled = i || runtime->flags & JITBPF_RUNTIME_LEAF_RUNS, is_none = false;

		layout = layout_at(runtime->recipe, pc);
		if (layout && i >= native->walked) {
			words = words_beyond(runtime, native->frame_pointers[i], &next);
		} else if (layout && next < runtime->count && !runtime->frames[next].owner) {
			is_none = runtime->frames[next].check == RUNTIME_NATIVE_NONE;
			words = &runtime->words[next++];
		}
		if (!layout || is_published(native, layout, pc)) {
			ret->words[ret->count++] = address;
			continue;
		}
		if (!words || !words->function) {
			ret->words[ret->count++] = address;
			ret->cut = ret->cut || (is_settled && !is_none);
			continue;
		}
		if (i && is_of_function(native, runtime->recipe, layout, i - 1))
			ret->words[ret->count - 1] =
				INTERPRETER | (native->addresses[i - 1] & VALUE_MASK);
		ret->words[ret->count++] = INTERPRETER | (address & VALUE_MASK);
		ret->words[ret->count++] = words->function;
		ret->words[ret->count++] =
			words->position |
			(layout->flags & RUNTIME_NATIVE_COMPILED ? JITBPF_POSITION_COMPILED : 0);
	}
}
