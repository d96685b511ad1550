/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a walk ends: whether a frame without a caller is the root of its stack. */
#ifndef JITBPF_BPF_UNWIND_END_H
#define JITBPF_BPF_UNWIND_END_H

#include "bpf/unwind.h"

/* Size of libc's frames between the first function and the top of the stack, at most. */
#define UNWIND_MAIN_TOP_BYTES	512
#define UNWIND_THREAD_TOP_BYTES 3072 /* with glibc's static TLS of about 1,900 bytes */
#define UNWIND_STACK_BYTES_MAX	(1ull << 30)

/*
 * Returns the top of the stack that sp points into, or 0 if it is not known. For the main
 * thread it is stack_top, where the kernel put the arguments. For a thread of libc it is
 * thread_pointer, its control block at the top of the stack.
 */
static inline __attribute__((always_inline)) __u64 unwind_stack_limit(__u64 sp, __u64 stack_top,
								      __u64 thread_pointer)
{
	if (sp <= stack_top && stack_top - sp < UNWIND_STACK_BYTES_MAX)
		return stack_top;
	if (sp <= thread_pointer && thread_pointer - sp < UNWIND_STACK_BYTES_MAX)
		return thread_pointer;
	return 0;
}

/*
 * Corrects the end of a walk that ended as `end` at `top`. If the top of the stack is known,
 * the distance to it decides whether the walk reached the root: libc's outermost frames have
 * no frame pointers, so the end of the chain proves nothing. A walk without any caller has
 * not reached the root. On other stacks (coroutines), `end` is unchanged: only code where a stack
 * begins is a root there.
 */
static inline __attribute__((always_inline)) enum jitbpf_stack_end unwind_judge_end(
	enum jitbpf_stack_end end, __u32 callers, __u64 sp, __u64 top, __u64 stack_top,
	__u64 thread_pointer)
{
	__u64 limit = unwind_stack_limit(sp, stack_top, thread_pointer);
	__u64 room = limit == stack_top ? UNWIND_MAIN_TOP_BYTES : UNWIND_THREAD_TOP_BYTES;

	if (end == JITBPF_END_DEPTH || !limit)
		return end;
	if (top <= limit && limit - top <= room)
		return callers ? JITBPF_END_ROOT : end;
	return end;
}

/*
 * Corrects the end of a walk by tables, after `callers` steps and an unwind_step(s, row) that
 * returned `end`:
 * - Code where stacks begin (JITBPF_END_ROOT) is the root.
 * - A return address 0 or a frame pointer 0 is none by itself: rows may be wrong, or rsp may have
 *   been switched. It is the root of a function that cannot return.
 * - Other frames without a caller are judged by their distance to the top of the stack.
 * - A failed step is no root, even near the top, since libc's frames there have rows.
 * - Code without a file (has_file 0) is no root, since other code has called it.
 */
static inline __attribute__((always_inline)) enum jitbpf_stack_end unwind_end(
	const struct unwind_state *s, struct unwind_row row, enum jitbpf_stack_end end,
	__u32 callers, __u64 stack_top, __u32 has_file)
{
	__u32 rule = row.cfa & UNWIND_RULE_MASK;

	if (end != JITBPF_END_NO_ROOT || !has_file)
		return end;
	if (rule == UNWIND_CFA_RSP_FINAL || rule == UNWIND_CFA_RBP_FINAL)
		return JITBPF_END_ROOT;
	return unwind_judge_end(end, callers, s->sp, s->sp, stack_top, s->thread_pointer);
}

#endif
