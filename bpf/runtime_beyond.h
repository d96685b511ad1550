/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the functions of native frames beyond the point where a walk stopped for lack of an unwind
 * row (uapi/runtime_beyond.h). User space walks from there by rows that it makes, but later: then a
 * function's object may have changed. Where the frames are is a guess here. So each function is
 * put with the frame pointer of its frame, and user space uses those that its own walk meets.
 */
#ifndef JITBPF_BPF_RUNTIME_BEYOND_H
#define JITBPF_BPF_RUNTIME_BEYOND_H

#include "bpf/runtime_native.h"

/* Loops of these lengths are cheap to verify. Their product is the most frames that are met. */
#define BEYOND_PIECE  8
#define BEYOND_PIECES 32

/* Global, as walk_frame() is; so are the others here. */
__noinline __u64 beyond_block(struct runtime_recipe *recipe, __u64 pc)
{
	return recipe ? beyond_block_at(&recipe->native.beyond, pc) : 0;
}

__noinline __u64 beyond_anchor(struct runtime_recipe *recipe, __u64 thread_pointer)
{
	return recipe ? beyond_anchor_of(&recipe->native.beyond, thread_pointer) : 0;
}

__noinline int beyond_go_to(struct runtime_walk *w, struct runtime_recipe *recipe, __u64 anchor)
{
	return w && recipe ? beyond_to_anchor(&recipe->native.beyond, anchor, &w->beyond) : 0;
}

__noinline int beyond_leave(struct runtime_walk *w, struct runtime_recipe *recipe, __u64 block)
{
	return w && recipe ? beyond_leave_block(&recipe->native.beyond, block, &w->beyond) : 0;
}

/* Goes to the caller. Returns 0 if it is not known. */
__noinline int beyond_step(struct sample_scratch *s, struct runtime_recipe *recipe)
{
	const struct runtime_beyond *beyond;
	struct beyond_frame *frame;
	__u64 pc, at;

	if (!s || !recipe)
		return 0;
	frame = &s->runtime.beyond;
	beyond = &recipe->native.beyond;
	pc = frame->ip - !!frame->is_caller;
	if (pc >= recipe->native.range[0].start && pc < recipe->native.range[0].end)
		return beyond_leave_interpreter(frame);
	if (frame->is_caller && frame->ip == beyond->entry)
		return beyond_word(&at, frame->bp + beyond->entry_at) &&
		       beyond_go_to(&s->runtime, recipe, at + beyond->anchor_of_entry);
	if (beyond_is_code(beyond, pc)) {
		at = beyond_block(recipe, pc);
		return at && beyond_leave(&s->runtime, recipe, at);
	}
	if (frame->has_left)
		return 0;
	frame->has_left = 1;
	at = beyond_anchor(recipe, s->walk.thread_pointer);
	return at && beyond_go_to(&s->runtime, recipe, at);
}

/* Goes to the next frame, and adds its function. Returns 0, or how the frames end. */
__noinline int beyond_next(struct sample_scratch *s, struct runtime_recipe *recipe, __u32 at)
{
	const struct runtime_native_range *range;
	struct runtime_walk *w;
	__u64 check;
	int end;

	if (!s || !recipe)
		return JITBPF_RUNTIME_UNREADABLE;
	w = &s->runtime;
	if (!beyond_step(s, recipe))
		return JITBPF_RUNTIME_ROOT;
	w->beyond.is_caller = 1;
	range = native_range_at(recipe, w->beyond.ip - 1);
	if (!range)
		return 0;
	w->native_bp = w->beyond.bp;
	native_function(w, (struct runtime_native_layout *)native_layout_of(recipe, range));
	if (!w->function)
		return 0;
	check = known_check(w, recipe);
	w->owner = w->native_bp;
	end = runtime_put(s, at, w->function, w->newest_position & recipe->position_mask, check);
	w->owner = 0;
	return end;
}

__noinline int beyond_piece(struct sample_scratch *s, struct runtime_recipe *recipe, __u32 at)
{
	int end = 0;

	for (__u32 i = 0; i < BEYOND_PIECE && !end; i++)
		end = beyond_next(s, recipe, at);
	return end;
}

/* Adds the functions of all frames beyond the walk. Returns how they end. */
__noinline int walk_beyond(struct sample_scratch *s, struct runtime_recipe *recipe, __u32 at)
{
	struct runtime_walk *w;
	int end = 0;

	if (!s || !recipe)
		return JITBPF_RUNTIME_UNREADABLE;
	w = &s->runtime;
	w->beyond = (struct beyond_frame){
		.ip = s->walk.state.ip,
		.sp = s->walk.state.sp,
		.bp = s->walk.state.bp,
		.is_caller = s->walk.state.is_caller,
	};
	w->native_is_leaf = w->native_enters = 0;
	for (__u32 i = 0; i < BEYOND_PIECES && !end; i++)
		end = beyond_piece(s, recipe, at);
	return end ?: JITBPF_RUNTIME_DEPTH;
}

/* Returns true if user space will complete the native frames of a sample. */
static __always_inline bool has_frames_beyond(const struct sample_scratch *s,
					      const struct runtime_recipe *recipe)
{
	return s->walk.not_made && !s->walk.state.narrow && !s->walk.by_frame_pointers &&
	       s->head.user_end == JITBPF_END_NO_RULE;
}

#endif
