/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Searches the stack behind the end of a walk for frames that hold functions, when rows are missing
 * there. A callee has saved the frame pointer of such a frame in front of the address at which it
 * returns to the frame's code. So each address of the stack that is followed by a return address
 * into a range may be one. What is found may also be the rest of an earlier call: user space knows
 * the frames when it has completed the walk (struct runtime_native_frames).
 */
#ifndef JITBPF_BPF_RUNTIME_SEARCH_H
#define JITBPF_BPF_RUNTIME_SEARCH_H

#include "bpf/runtime_native.h"

/* Loops of these lengths are cheap to verify. */
#define SEARCH_WORDS  8
#define SEARCH_PIECES (SEARCH_PAGE_WORDS / SEARCH_WORDS)
#define SEARCH_PAGES  16
#define SEARCH_NEAR   16 /* words */

_Static_assert(SEARCH_PAGE_WORDS % SEARCH_WORDS == 0, "whole pieces");

/*
 * Adds the function of a frame that code returns to at an address, if that is in a range. Returns
 * 0, or how the frames end. Global, as walk_frame() is.
 */
__noinline int search_put(struct sample_scratch *s, struct runtime_recipe *recipe, __u32 at,
			  __u64 frame_pointer, __u64 return_address)
{
	const struct runtime_native_range *range;
	struct runtime_walk *w;
	__u64 check;
	int end;

	if (!s || !recipe)
		return JITBPF_RUNTIME_UNREADABLE;
	w = &s->runtime;
	range = native_range_at(recipe, return_address - 1);
	if (!range)
		return 0;
	w->native_bp = frame_pointer;
	native_function(w, (struct runtime_native_layout *)native_layout_of(recipe, range));
	if (!w->function)
		return 0;
	check = known_check(w, recipe);
	w->owner = frame_pointer;
	end = runtime_put(s, at, w->function, w->newest_position & recipe->position_mask, check);
	w->owner = 0;
	return end;
}

/* Looks at the next words of the page. Global, as walk_frame() is. */
__noinline int search_words(struct sample_scratch *s, struct runtime_recipe *recipe, __u32 at)
{
	__u64 index, before, word, address;
	int end = 0;

	if (!s || !recipe)
		return JITBPF_RUNTIME_UNREADABLE;
	for (__u32 i = 0; i < SEARCH_WORDS && !end; i++) {
		index = s->search_index;
		asm volatile("" : "+r"(index));
		if (index >= SEARCH_PAGE_WORDS || index >= s->search_count)
			return 0;
		s->search_index = index + 1;
		word = s->search_room[index];
		before = s->search_before;
		s->search_before = word;
		address = s->search_at + index * sizeof(word);
		if (before > address && before < s->search_end && before % sizeof(word) == 0)
			end = search_put(s, recipe, at, before, word);
	}
	return end;
}

/* Looks at the stack up to the next end of a page. Returns how the frames end, or 0. Global. */
__noinline int search_page(struct sample_scratch *s, struct runtime_recipe *recipe, __u32 at)
{
	__u64 bytes;
	int end = 0;

	if (!s || !recipe)
		return JITBPF_RUNTIME_UNREADABLE;
	s->search_at += s->search_count * sizeof(__u64);
	bytes = PAGE_BYTES - (s->search_at & (PAGE_BYTES - 1));
	if (s->search_at >= s->search_end)
		return JITBPF_RUNTIME_ROOT;
	if (s->search_end - s->search_at < bytes)
		bytes = s->search_end - s->search_at;
	asm volatile("" : "+r"(bytes));
	if (bytes > PAGE_BYTES || bpf_probe_read_user(s->search_room, bytes, (void *)s->search_at))
		return JITBPF_RUNTIME_UNREADABLE;
	s->search_index = 0;
	s->search_count = bytes / sizeof(__u64);
	for (__u32 i = 0; i < SEARCH_PIECES && !end; i++)
		end = search_words(s, recipe, at);
	return end;
}

/* Returns true if code has called another one to make its frame, which may not be made yet. */
static __always_inline bool search_meets_entry(struct user_walk *walk, __u64 return_address,
					       const struct runtime_native_layout *layout)
{
	return layout->enter_call[0].size_bytes &&
	       (bpf_probe_read_user(walk->leaf_code, RUNTIME_PATTERN_BYTES_MAX,
				    (void *)(return_address - RUNTIME_PATTERN_BYTES_MAX)) ||
		frame_code_entered(walk->leaf_code, layout));
}

/*
 * Adds the frame that rbp leads to where the walk has stopped: no callee has saved it. Global, as
 * walk_frame() is.
 */
__noinline int search_register(struct sample_scratch *s, struct runtime_recipe *recipe, __u32 at)
{
	const struct runtime_native_range *range;
	__u64 word, address, frame_pointer;

	if (!s || !recipe)
		return 0;
	frame_pointer = s->walk.state.bp;
	address = s->walk.state.sp;
	for (__u32 i = 0; i < SEARCH_NEAR; i++, address += sizeof(word)) {
		if (address >= frame_pointer ||
		    bpf_probe_read_user(&word, sizeof(word), (void *)address))
			return 0;
		range = native_range_at(recipe, word - 1);
		if (!range)
			continue;
		if (search_meets_entry(&s->walk, word, native_layout_of(recipe, range)))
			return 0;
		return search_put(s, recipe, at, frame_pointer, word);
	}
	return 0;
}

/* Returns true if user space will complete the native frames of a sample. */
static __always_inline bool has_frames_beyond(const struct sample_scratch *s)
{
	return s->walk.not_made && !s->walk.state.narrow && !s->walk.by_frame_pointers &&
	       s->head.user_end == JITBPF_END_NO_RULE;
}

/* Adds the frames behind the end of the walk. Returns how the frames end. */
static __always_inline int search_native(struct sample_scratch *s, struct runtime_recipe *recipe,
					 __u32 at)
{
	const struct unwind_state *state = &s->walk.state;
	int end;

	s->runtime.native_is_leaf = s->runtime.native_enters = 0;
	s->search_at = state->sp & ~7ull;
	s->search_end = unwind_stack_limit(state->sp, s->walk.stack_top, state->thread_pointer)
				?: s->search_at + SEARCH_PAGES * PAGE_BYTES;
	s->search_count = s->search_before = 0;
	end = state->bp < s->search_end && state->bp % sizeof(__u64) == 0
		      ? search_register(s, recipe, at)
		      : 0;
	for (__u32 i = 0; i < SEARCH_PAGES && !end; i++)
		end = search_page(s, recipe, at);
	return end;
}

#endif
