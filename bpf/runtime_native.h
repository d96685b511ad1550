/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the functions that native frames hold (struct runtime_native_frames), after the walk of the
 * native stack. All words are read at this sample, also those of callers that the walk reused.
 */
#ifndef JITBPF_BPF_RUNTIME_NATIVE_H
#define JITBPF_BPF_RUNTIME_NATIVE_H

#include "bpf/runtime_put.h"
#include "bpf/runtime_ranges.h"

/* Loops of these lengths are cheap to verify. Their product is JITBPF_USER_FRAMES_MAX. */
#define NATIVE_PIECE  4
#define NATIVE_PIECES 16
#define NATIVE_TURNS  (JITBPF_USER_FRAMES_MAX / (NATIVE_PIECE * NATIVE_PIECES))

/*
 * Returns true if the leaf has made its frame: its caller is found by the frame pointer, and the
 * word of its function is not below the stack pointer.
 */
static __always_inline bool has_made_frame(const struct sample_scratch *s,
					   const struct runtime_native_layout *layout)
{
	__s32 rule = s->walk.leaf_rule;

	return (rule == UNWIND_CFA(UNWIND_CFA_RBP, 16) ||
		rule == UNWIND_CFA_COMMAND(UNWIND_INTERPRETER)) &&
	       s->runtime.leaf_bp + layout->function_at >= s->runtime.leaf_start;
}

/* Returns true if a register has the function of the leaf, which has not made its frame. */
static __always_inline bool is_entering(const struct sample_scratch *s,
					const struct runtime_native_range *range,
					const struct runtime_native_layout *layout)
{
	__s32 rule = s->walk.leaf_rule;

	if (!(layout->flags & RUNTIME_NATIVE_ENTRY_REGISTER))
		return false;
	return s->walk.leaf_enters ||
	       ((rule == UNWIND_CFA(UNWIND_CFA_RSP, 8) || rule == UNWIND_CFA(UNWIND_CFA_RSP, 16)) &&
		!(layout->flags & RUNTIME_NATIVE_FRAME_POINTERS) &&
		s->runtime.native_pc - range->start <= layout->prologue_bytes);
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

/* Returns the word of the frame at an offset from its frame pointer. It was read. */
static __always_inline __u64 native_word(const struct runtime_walk *w,
					 const struct runtime_native_layout *layout, __s16 offset)
{
	return frame_word(w, offset - layout->bytes_from);
}

/* Returns a register of the interrupted code by its number of DWARF. */
static __always_inline __u64 leaf_register(__u16 number)
{
	return register_of((struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf()),
			   (__u8)number);
}

/*
 * Sets w->function to the object that the function word of a frame leads to, or 0. Returns
 * RUNTIME_NATIVE_NONE if the word is that of no function, else 0.
 */
static __always_inline int follow_steps(struct runtime_walk *w,
					const struct runtime_native_layout *layout, __u64 word)
{
	if (word < layout->function_min || layout->function_clear & ~word)
		return RUNTIME_NATIVE_NONE;
	word &= ~(__u64)layout->function_clear;
	for (__u32 i = 0; i < RUNTIME_NATIVE_STEPS_MAX; i++) {
		if (i >= layout->step_count)
			break;
		if (bpf_probe_read_user(&word, sizeof(word), (void *)(word + layout->step[i])))
			return 0;
		word &= ~(__u64)layout->function_clear;
	}
	w->function = word;
	return 0;
}

/*
 * Sets w->function to that of the frame, or 0. Returns RUNTIME_NATIVE_NONE if the frame is known to
 * hold none, else 0. Global, as walk_frame() is.
 */
__noinline int native_function(struct runtime_walk *w, struct runtime_native_layout *layout)
{
	__u64 bytes, word;
	int none;

	if (!w || !layout)
		return 0;
	w->function = 0;
	w->newest_position = 0;
	if (w->native_enters)
		return follow_steps(w, layout, leaf_register(layout->entry_register));
	bytes = layout->bytes;
	asm volatile("" : "+r"(bytes));
	if (bytes > RUNTIME_FRAME_BYTES_MAX ||
	    bpf_probe_read_user(w->frame_bytes, bytes, (void *)(w->native_bp + layout->bytes_from)))
		return 0;
	if (layout->guard_mask &&
	    (native_word(w, layout, layout->guard_at) & layout->guard_mask) != layout->guard_value)
		return RUNTIME_NATIVE_NONE;
	none = follow_steps(w, layout, native_word(w, layout, layout->function_at));
	if (layout->position_at != RUNTIME_NO_OFFSET)
		w->newest_position = native_word(w, layout, layout->position_at);
	if (w->native_is_leaf && layout->flags & RUNTIME_NATIVE_REGISTER_POSITION) {
		word = leaf_register(layout->position_register);
		if (w->native_bp + layout->position_at < w->leaf_start ||
		    word - w->newest_position < layout->position_span ||
		    w->newest_position - word < layout->position_span)
			w->newest_position = word;
	}
	return none;
}

/* Adds what the next native frame holds. Returns 0, or how the frames end. Global. */
__noinline int native_step(struct sample_scratch *s, struct kept_walk *kept,
			   struct runtime_recipe *recipe, __u32 at)
{
	const struct runtime_native_layout *layout;
	const struct runtime_native_range *range;
	struct runtime_walk *w;
	int none;

	if (!s || !kept || !recipe)
		return JITBPF_RUNTIME_UNREADABLE;
	w = &s->runtime;
	if (!find_frame(s, kept, w->native_at))
		return JITBPF_RUNTIME_ROOT;
	w->native_is_leaf = !w->native_at;
	w->native_at++;
	range = native_range_at(recipe, w->native_pc);
	if (!range)
		return 0;
	layout = native_layout_of(recipe, range);
	w->native_enters = 0;
	if (w->native_is_leaf) {
		w->native_enters = is_entering(s, range, layout);
		if (!w->native_enters && !has_made_frame(s, layout))
			return runtime_put(s, at, 0, 0, 0);
		w->leaf_runs = 1;
	} else if (w->native_at == 2 && layout->flags & RUNTIME_NATIVE_FRAME_POINTERS &&
		   leaf_makes_frame(&s->walk, w->native_pc + 1, layout)) {
		if (!(layout->flags & RUNTIME_NATIVE_ENTRY_REGISTER))
			return runtime_put(s, at, 0, 0, 0);
		w->native_enters = 1;
	}
	none = native_function(w, (struct runtime_native_layout *)layout);
	if (!w->function)
		return runtime_put(s, at, 0, 0, none);
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
