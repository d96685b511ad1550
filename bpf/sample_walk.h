/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks the user frames of a sample by the unwind tables (bpf/unwind_walk.h) or by frame pointers.
 * A walk by the tables can reuse the outermost callers of the last walk (bpf/unwind_kept.h).
 */
#ifndef JITBPF_BPF_SAMPLE_WALK_H
#define JITBPF_BPF_SAMPLE_WALK_H

#include <bpf/bpf_core_read.h>

#include "bpf/sample_scratch.h"

/* Walk by unwind tables, and copy the stack if they lack a row; otherwise by frame pointers. */
const volatile bool walk_tables = false;
/*
 * Loops of these lengths are cheap to verify. The product of the WALK_ lengths is
 * JITBPF_USER_FRAMES_MAX.
 */
#define WALK_PIECE  4 /* callers */
#define WALK_PIECES 8
#define KEEP_PIECE  8
#define KEEP_PIECES 8
#define WALK_TURNS  (JITBPF_USER_FRAMES_MAX / (WALK_PIECE * WALK_PIECES))

_Static_assert(JITBPF_USER_FRAMES_MAX % (WALK_PIECE * WALK_PIECES) == 0, "whole turns");

/* Results of begin_user(). */
#define BEGUN	    1
#define BEGUN_OTHER 2 /* at code that is neither 64-bit nor 32-bit code of a flat segment */

/* Results of a walk that enum jitbpf_stack_end does not have. */
#define WALK_KEPT  100 /* the current frame is a kept one */
#define WALK_AGAIN 101 /* the kept callers cannot be used: walk without them */

/*
 * Continues the walk by up to WALK_PIECE callers, and writes them to words[at] and up; the first
 * caller of the stack is at words[at]. The walk ends when it finds one caller more than a sample
 * holds. Global, as walk_frame() is.
 */
__noinline int walk_piece(struct sample_scratch *s, struct kept_walk *kept, __u32 at)
{
	__u64 to, callers;
	int end;

	if (!s || !kept)
		return JITBPF_END_NO_RULE;
	for (__u32 i = 0; i < WALK_PIECE; i++) {
		callers = s->walk.callers;
		to = at + callers;
		if (callers && s->walk.kept_at < KEPT_MAX && is_kept(&s->walk, kept))
			return WALK_KEPT;
		end = walk_frame(&s->walk);
		asm volatile("" : "+r"(to), "+r"(callers));
		if (callers - 1 < JITBPF_USER_FRAMES_MAX)
			s->kept_room.found[callers - 1].sp |= s->walk.flags;
		if (end)
			return end;
		if (callers >= JITBPF_USER_FRAMES_MAX - 1 || to > JITBPF_SAMPLE_FRAMES_MAX) {
			s->walk.callers = JITBPF_USER_FRAMES_MAX - 1;
			return JITBPF_END_DEPTH;
		}
		s->words[to] = unwind_frame_ip(&s->walk.state);
		s->kept_room.found[callers].sp = kept_sp(&s->walk.state);
		s->kept_room.found[callers].bp = s->walk.state.bp;
	}
	return UNWIND_STEPPED;
}

/* walk_piece() for up to WALK_PIECES pieces. */
__noinline int walk_pieces(struct sample_scratch *s, struct kept_walk *kept, __u32 at)
{
	int end = UNWIND_STEPPED;

	for (__u32 i = 0; i < WALK_PIECES && !end; i++)
		end = walk_piece(s, kept, at);
	return end;
}

/* Continues the walk until the stack ends, or is deeper than a sample. Global, as walk_frame(). */
__noinline int walk_callers(struct sample_scratch *s, struct kept_walk *kept, __u32 at)
{
	int end = UNWIND_STEPPED;

	for (__u32 i = 0; i < WALK_TURNS && !end; i++)
		end = walk_pieces(s, kept, at);
	return end;
}

#define REUSE_TRIES 2

/*
 * Walks until the stack ends, or until the remaining callers are those of the last walk. Then words
 * lacks s->walk.reused callers. The row of the outermost frame is looked up again, so that the
 * current tables decide how the walk ends.
 */
__noinline int walk_or_reuse(struct sample_scratch *s, struct kept_walk *kept, __u32 at)
{
	int end;

	if (!s || !kept)
		return JITBPF_END_NO_RULE;
	for (__u32 i = 0; i < REUSE_TRIES; i++) {
		/* Most walks end, or meet a kept frame, within a piece. */
		end = walk_piece(s, kept, at) ?: walk_callers(s, kept, at);
		if (end != WALK_KEPT)
			return end;
		if (reuse_kept(&s->walk, kept, &s->kept_room))
			return walk_frame(&s->walk) == JITBPF_END_ROOT ? JITBPF_END_ROOT
								       : WALK_AGAIN;
	}
	s->walk.kept_at = KEPT_MAX;
	return walk_callers(s, kept, at);
}

/* Continues to keep the callers of a walk, whose first one is at words[at]. Returns true at the
 * end.
 */
__noinline int keep_piece(struct sample_scratch *s, struct kept_walk *kept, __u32 at)
{
	struct kept_frame *frame;
	__u64 from, i;

	if (!s || !kept)
		return 1;
	for (__u32 n = 0; n < KEEP_PIECE; n++) {
		i = s->walk.kept_at;
		from = at + i;
		frame = kept_frame_at(kept, KEPT_MAX - (__u64)s->walk.callers + i);
		asm volatile("" : "+r"(i), "+r"(from));
		if (!frame || i + s->walk.reused >= s->walk.callers || i >= KEPT_MAX ||
		    from > JITBPF_SAMPLE_FRAMES_MAX)
			return 1;
		frame->ip = s->words[from];
		frame->sp = s->kept_room.found[i].sp;
		frame->bp = s->kept_room.found[i].bp;
		s->walk.kept_at = i + 1;
	}
	return 0;
}

__noinline int keep_pieces(struct sample_scratch *s, struct kept_walk *kept, __u32 at)
{
	int done = 0;

	for (__u32 i = 0; i < KEEP_PIECES && !done; i++)
		done = keep_piece(s, kept, at);
	return done;
}

/* Keeps the callers for the next walk on this CPU. */
__noinline int keep_callers(struct sample_scratch *s, struct kept_walk *kept, __u32 at)
{
	struct kept_frame *met;
	int done = 0;
	__u64 i;

	if (!s || !kept)
		return 0;
	/* This walk reached the first reused frame from another callee: keep this walk's step. */
	i = s->walk.callers - s->walk.reused;
	asm volatile("" : "+r"(i));
	met = s->walk.reused ? kept_frame_at(kept, KEPT_MAX - (__u64)s->walk.reused) : NULL;
	if (met && i < KEPT_MAX)
		met->sp = s->kept_room.found[i].sp | (met->sp & (KEPT_CODE | KEPT_GUESSED));
	s->walk.kept_at = 0;
	for (__u32 n = 0; n < KEPT_MAX / (KEEP_PIECE * KEEP_PIECES) && !done; n++)
		done = keep_pieces(s, kept, at);
	kept->pid = s->head.pid;
	kept->start_ns = s->head.start_ns;
	kept->stack_top = s->walk.stack_top;
	kept->known_ns = s->walk.known_ns;
	kept->removals = s->walk.removals;
	kept->first = s->walk.first;
	kept->mappings = s->walk.count;
	kept->count = s->walk.callers;
	return 0;
}

/*
 * The base of the first TLS segment, which 32-bit libcs use. The descriptor has the base's bits
 * 0-23 from bit 16 on, and the others from bit 56 on.
 */
static __always_inline __u64 thread_pointer_narrow(struct task_struct *task)
{
	__u64 descriptor = 0;

	bpf_core_read(&descriptor, sizeof(descriptor), &task->thread.tls_array);
	return (descriptor >> 16 & 0xffffff) | descriptor >> 56 << 24;
}

/*
 * Begins the walk at the user registers. Returns BEGUN or BEGUN_OTHER, or 0 if the task has no user
 * stack. Global, as walk_frame() is.
 */
__noinline int begin_user(struct sample_scratch *s)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *user = (struct pt_regs *)bpf_task_pt_regs(task);
	struct mm_struct *mm;

	/* Worker threads of the kernel (io_uring) share the process's memory, but have ip 0. */
	if (!s || task->flags & PF_KTHREAD || !user->ip)
		return 0;
	mm = BPF_CORE_READ(task, mm);
	/* Until an exec has loaded the program, the registers are those of the program before. */
	if (!mm || !BPF_CORE_READ(mm, start_code))
		return 0;
	begin_walk(&s->walk, s->head.pid, user, BPF_CORE_READ(mm, start_stack),
		   task->thread.fsbase);
	if (unwind_cs_is_narrow(user->cs))
		narrow_walk(&s->walk.state, thread_pointer_narrow(task));
	else if (!unwind_cs_is_wide(user->cs))
		return BEGUN_OTHER;
	else if (s->head.kernel_words)
		unwind_undo_delivery(&s->walk.state);
	return BEGUN;
}

/* Returns how the stack ends (enum jitbpf_stack_end). */
static __always_inline int walk_by_tables(struct sample_scratch *s, struct kept_walk *kept,
					  __u32 at)
{
	struct user_walk *w = &s->walk;
	int end;

	begin_kept(w, kept, s->head.pid, s->head.start_ns);
	end = walk_or_reuse(s, kept, at);
	if (end == WALK_AGAIN) {
		begin_user(s);
		end = walk_callers(s, kept, at);
	}
	if (w->not_made && !has_room_for_copy(sample_ring_of(s))) {
		/* No copy: guess the other callers by frame pointers. */
		w->by_frame_pointers = true;
		w->kept_at = KEPT_MAX;
		end = walk_callers(s, kept, at);
		if (end != JITBPF_END_ROOT && end != JITBPF_END_DEPTH)
			end = JITBPF_END_NO_ROOM;
	}
	/* Only whole stacks reuse callers, so the callers of other stacks are not kept. */
	if (end == JITBPF_END_ROOT && !w->by_frame_pointers) {
		keep_callers(s, kept, at);
		s->head.h.flags |= JITBPF_SAMPLE_REUSES_CALLERS;
	}
	return end;
}

/* Writes the user frames behind the kernel's. Global, as walk_frame() is. */
__noinline int walk_user(struct sample_scratch *s, struct kept_walk *kept)
{
	struct user_walk *w;
	int begun, end;
	__u64 at;

	if (!s || !kept)
		return 0;
	w = &s->walk;
	at = s->head.kernel_words;
	begun = begin_user(s);
	asm volatile("" : "+r"(at));
	if (!begun || at > JITBPF_KERNEL_FRAMES_MAX)
		return 0;
	s->words[at] = w->state.ip;
	s->runtime.leaf_start = s->runtime.leaf_end = w->state.sp;
	s->runtime.leaf_bp = w->state.bp;
	if (begun == BEGUN_OTHER) {
		end = JITBPF_END_COMPAT;
	} else if (walk_tables) {
		end = walk_by_tables(s, kept, at + 1);
	} else {
		w->by_frame_pointers = true;
		end = walk_callers(s, kept, at + 1);
	}
	s->head.user_end = end;
	s->head.user_words = w->callers + 1;
	if (w->count)
		s->head.mappings_age_ns = mappings_age_ns(w, s->head.h.time_ns);
	if (w->state.guessed)
		s->head.h.flags |= JITBPF_SAMPLE_FRAME_POINTERS;
	else if (w->callers)
		s->runtime.leaf_end = s->kept_room.found[0].sp & ~(KEPT_CODE | KEPT_GUESSED);
	return 0;
}

#endif
