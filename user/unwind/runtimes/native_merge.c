/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/runtimes/native_merge.h"

#include <stddef.h>

#define INTERPRETER ((uint64_t)JITBPF_FRAME_INTERPRETER << JITBPF_FRAME_KIND_SHIFT)
#define VALUE_MASK  ((1ull << JITBPF_FRAME_KIND_SHIFT) - 1)

static bool holds_function(const struct runtime_recipe *recipe, uint64_t pc)
{
	for (uint32_t i = 0; i < recipe->native.range_count && i < RUNTIME_NATIVE_RANGES_MAX; i++) {
		if (pc >= recipe->native.range[i].start && pc < recipe->native.range[i].end)
			return true;
	}
	return false;
}

void runtime_merge_native(const struct native_stack *native, const struct runtime_stack *runtime,
			  struct merged_stack *ret)
{
	uint32_t next = 0;

	ret->count = 0;
	ret->cut = false;
	for (uint32_t i = 0; i < native->count; i++) {
		uint64_t address = native->addresses[i];
		const struct runtime_words *words = NULL;
		bool is_settled = i || runtime->flags & JITBPF_RUNTIME_LEAF_RUNS;

		if (!holds_function(runtime->recipe, address - !!i)) {
			ret->words[ret->count++] = address;
			continue;
		}
		if (next < runtime->count)
			words = &runtime->words[next++];
		if (!words || !words->function) {
			ret->words[ret->count++] = address;
			ret->cut = ret->cut || is_settled;
			continue;
		}
		ret->words[ret->count++] = INTERPRETER | (address & VALUE_MASK);
		ret->words[ret->count++] = words->function;
		ret->words[ret->count++] = words->position;
	}
}
