/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The recipes of processes, and their ranges of native code whose frames hold functions. */
#ifndef JITBPF_BPF_RUNTIME_RANGES_H
#define JITBPF_BPF_RUNTIME_RANGES_H

#include "bpf/maps.h"
#include "uapi/runtime_recipe.h"

/* By pid in jitbpf's namespace. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RUNTIME_PROCESSES_MAX);
	__type(key, __u32);
	__type(value, struct runtime_recipe);
} runtime_recipes SEC(".maps");

/* Number of recipes, kept by user space: without any, nothing is looked up. */
__u64 runtime_recipe_count = 0;

/* Returns the range that code is in, or NULL. */
static __always_inline const struct runtime_native_range *native_range_at(
	const struct runtime_recipe *recipe, __u64 pc)
{
	for (__u32 i = 0; i < RUNTIME_NATIVE_RANGES_MAX; i++) {
		const struct runtime_native_range *range = &recipe->native.range[i];

		if (i >= recipe->native.range_count)
			break;
		if (pc >= range->start && pc < range->end)
			return range;
	}
	return NULL;
}

static __always_inline const struct runtime_native_layout *native_layout_of(
	const struct runtime_recipe *recipe, const struct runtime_native_range *range)
{
	__u64 index = range->layout;

	asm volatile("" : "+r"(index));
	return &recipe->native.layout[index & (RUNTIME_NATIVE_LAYOUTS_MAX - 1)];
}

#endif
