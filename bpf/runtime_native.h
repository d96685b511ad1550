/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the functions that native frames hold (struct runtime_native_frames), after the walk of the
 * native stack. All words are read at this sample, also those of callers that the walk reused.
 */
#ifndef JITBPF_BPF_RUNTIME_NATIVE_H
#define JITBPF_BPF_RUNTIME_NATIVE_H

#include "bpf/runtime_put.h"

/* Loops of these lengths are cheap to verify. Their product is JITBPF_USER_FRAMES_MAX. */
#define NATIVE_PIECE  4
#define NATIVE_PIECES 16
#define NATIVE_TURNS  (JITBPF_USER_FRAMES_MAX / (NATIVE_PIECE * NATIVE_PIECES))

/*
 * Returns true if the leaf, whose layout has that index, has made its frame: its caller is found by
 * the frame pointer, and the word of its function is not below the stack pointer.
 */
static __always_inline bool has_made_frame(const struct sample_scratch *s,
					   const struct runtime_recipe *recipe, __u64 index)
{
	__s32 rule = s->walk.leaf_rule;

	if (rule != UNWIND_CFA(UNWIND_CFA_RBP, 16) &&
	    rule != UNWIND_CFA_COMMAND(UNWIND_INTERPRETER))
		return false;
	asm volatile("" : "+r"(index));
	index &= RUNTIME_NATIVE_LAYOUTS_MAX - 1;
	return s->runtime.leaf_bp + recipe->native.layout[index].function_at >=
	       s->runtime.leaf_start;
}

/*
 * Sets w->native_pc and w->native_bp to those of a user frame by its number: code to look up, and
 * rbp. Returns false if there is no such frame.
 */
static __always_inline bool find_frame(struct sample_scratch *s, struct kept_walk *kept, __u32 at)
{
	const struct kept_frame *frame;
	__u64 word = (__u64)s->head.kernel_words + at, caller = (__u64)at - 1;

	if (at >= s->head.user_words)
		return false;
	if (at && s->head.h.flags & JITBPF_SAMPLE_REUSES_CALLERS) {
		frame = kept_frame_at(kept, KEPT_MAX - (__u64)s->walk.callers + caller);
		if (!frame)
			return false;
		s->runtime.native_pc = frame->ip - 1;
		s->runtime.native_bp = frame->bp;
		return true;
	}
	asm volatile("" : "+r"(word), "+r"(caller));
	if (word > JITBPF_SAMPLE_FRAMES_MAX)
		return false;
	s->runtime.native_pc = s->words[word] - !!at;
	s->runtime.native_bp = s->runtime.leaf_bp;
	if (at) {
		if (caller >= KEPT_MAX)
			return false;
		s->runtime.native_bp = s->kept_room.found[caller].bp;
	}
	return true;
}

/* Returns the index of the layout of a frame; RUNTIME_NATIVE_LAYOUTS_MAX: it is in no range. */
static __always_inline __u32 layout_at(const struct runtime_recipe *recipe, __u64 pc)
{
	for (__u32 i = 0; i < RUNTIME_NATIVE_RANGES_MAX; i++)
		if (i < recipe->native.range_count && pc >= recipe->native.range[i].start &&
		    pc < recipe->native.range[i].end)
			return recipe->native.range[i].layout;
	return RUNTIME_NATIVE_LAYOUTS_MAX;
}

/* Returns the word of the frame at an offset from its frame pointer. It was read. */
static __always_inline __u64 native_word(const struct runtime_walk *w,
					 const struct runtime_native_layout *layout, __s16 offset)
{
	return frame_word(w, offset - layout->bytes_from);
}

/* Sets w->function to that of the frame, or 0. Global, as walk_frame() is. */
__noinline int native_function(struct sample_scratch *s, struct runtime_recipe *recipe, __u32 index)
{
	const struct runtime_native_layout *layout;
	struct runtime_walk *w;
	__u64 bytes, word, at = index;

	if (!s || !recipe)
		return 0;
	w = &s->runtime;
	w->function = 0;
	asm volatile("" : "+r"(at));
	layout = &recipe->native.layout[at & (RUNTIME_NATIVE_LAYOUTS_MAX - 1)];
	bytes = layout->bytes;
	asm volatile("" : "+r"(bytes));
	if (bytes > RUNTIME_FRAME_BYTES_MAX ||
	    bpf_probe_read_user(w->frame_bytes, bytes, (void *)(w->native_bp + layout->bytes_from)))
		return 0;
	if (layout->guard_mask &&
	    (native_word(w, layout, layout->guard_at) & layout->guard_mask) != layout->guard_value)
		return 0;
	word = native_word(w, layout, layout->function_at) & ~(__u64)layout->function_clear;
	for (__u32 i = 0; i < RUNTIME_NATIVE_STEPS_MAX; i++) {
		if (i >= layout->step_count)
			break;
		if (bpf_probe_read_user(&word, sizeof(word), (void *)(word + layout->step[i])))
			return 0;
		word &= ~(__u64)layout->function_clear;
	}
	w->function = word;
	w->newest_position = 0;
	if (layout->position_at != RUNTIME_NO_OFFSET)
		w->newest_position = native_word(w, layout, layout->position_at);
	if (w->native_is_leaf && layout->flags & RUNTIME_NATIVE_REGISTER_POSITION) {
		word = register_of((struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf()),
				   (__u8)layout->position_register);
		if (w->native_bp + layout->position_at < w->leaf_start ||
		    word - w->newest_position < layout->position_span ||
		    w->newest_position - word < layout->position_span)
			w->newest_position = word;
	}
	return 0;
}

/* Adds what the next native frame holds. Returns 0, or how the frames end. Global. */
__noinline int native_step(struct sample_scratch *s, struct kept_walk *kept,
			   struct runtime_recipe *recipe, __u32 at)
{
	struct runtime_walk *w;
	__u32 index;

	if (!s || !kept || !recipe)
		return JITBPF_RUNTIME_UNREADABLE;
	w = &s->runtime;
	if (!find_frame(s, kept, w->native_at))
		return JITBPF_RUNTIME_ROOT;
	w->native_is_leaf = !w->native_at;
	w->native_at++;
	index = layout_at(recipe, w->native_pc);
	if (index >= RUNTIME_NATIVE_LAYOUTS_MAX)
		return 0;
	if (w->native_is_leaf) {
		if (!has_made_frame(s, recipe, index))
			return runtime_put(s, at, 0, 0, 0);
		w->leaf_runs = 1;
	}
	native_function(s, recipe, index);
	if (!w->function)
		return runtime_put(s, at, 0, 0, 0);
	return runtime_put_function(s, recipe, at, w->newest_position & recipe->position_mask, 0);
}

__noinline int native_piece(struct sample_scratch *s, struct kept_walk *kept,
			    struct runtime_recipe *recipe, __u32 at)
{
	int end = 0;

	for (__u32 i = 0; i < NATIVE_PIECE && !end; i++)
		end = native_step(s, kept, recipe, at);
	return end;
}

__noinline int native_pieces(struct sample_scratch *s, struct kept_walk *kept,
			     struct runtime_recipe *recipe, __u32 at)
{
	int end = 0;

	for (__u32 i = 0; i < NATIVE_PIECES && !end; i++)
		end = native_piece(s, kept, recipe, at);
	return end;
}

/* Reads all frames. Returns how they end. */
static __always_inline int walk_native(struct sample_scratch *s, struct kept_walk *kept,
				       struct runtime_recipe *recipe, __u32 at)
{
	int end = 0;

	s->runtime.count = 0;
	s->runtime.walk++;
	s->runtime.native_at = 0;
	s->runtime.owner = s->runtime.wants_owner = 0;
	s->runtime.leaf_runs = 0;
	for (__u32 i = 0; i < NATIVE_TURNS && !end; i++)
		end = native_pieces(s, kept, recipe, at);
	return end ?: JITBPF_RUNTIME_DEPTH;
}

/* As runtime_flags(). */
static __always_inline __u32 native_flags(const struct runtime_walk *w)
{
	return w->leaf_runs ? JITBPF_RUNTIME_LEAF_RUNS : 0;
}

#endif
