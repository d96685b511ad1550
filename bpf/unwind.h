/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps of the stack unwinder. Compiles for BPF and for user space alike: the
 * includer provides `unwind_read(dst, size, address)`, which copies stack
 * memory and returns 0 or not; `s` is the walk's state there. Which row holds at a
 * place, each finds in its own way; the kernel by bpf/unwind_search.h.
 */
#ifndef JITBPF_BPF_UNWIND_H
#define JITBPF_BPF_UNWIND_H

#include "uapi/record.h"
#include "uapi/unwind.h"

/* Where a walk is: the registers of a frame, as far as they are followed. */
struct unwind_state {
	__u64 ip, sp, bp;
	__u32 is_caller; /* ip is a return address: it is the code before it that tells */
	__u32 guessed;	 /* some frame so far was found by UNWIND_FRAME_POINTER */
};

#define UNWIND_STEPPED 0 /* s is the caller's; else an enum jitbpf_stack_end */

/* Where in a signal frame the interrupted registers lie, from rsp: the kernel's struct ucontext. */
#define UNWIND_SIGNAL_BP 120
#define UNWIND_SIGNAL_SP 160
#define UNWIND_SIGNAL_IP 168

/* What ips says of a frame: see struct jitbpf_sample. */
static inline __attribute__((always_inline)) __u64 unwind_frame_ip(const struct unwind_state *s)
{
	return s->ip + !s->is_caller;
}

static inline __attribute__((always_inline)) int unwind_signal(struct unwind_state *s)
{
	__u64 ip, sp, bp;

	if (unwind_read(&ip, sizeof(ip), s->sp + UNWIND_SIGNAL_IP) ||
	    unwind_read(&sp, sizeof(sp), s->sp + UNWIND_SIGNAL_SP) ||
	    unwind_read(&bp, sizeof(bp), s->sp + UNWIND_SIGNAL_BP))
		return JITBPF_END_UNREADABLE;
	if (!ip)
		return JITBPF_END_ROOT;
	/* The handler may run on a stack of its own, so that sp can go either way. */
	s->ip = ip;
	s->sp = sp;
	s->bp = bp;
	s->is_caller = 0;
	return UNWIND_STEPPED;
}

#define UNWIND_SAVED_WORDS 8 /* where a function pushes registers: below its return address */

/*
 * Read the return address, and rbp where it is saved. In BPF a read takes longer than all else
 * of a step, and what it reads hardly matters: where both are close together, there is one.
 */
static inline __attribute__((always_inline)) int unwind_saved(struct unwind_state *s, __u64 cfa,
							      __u64 bp_base, int rbp, __u64 *ret_ip,
							      __u64 *ret_bp)
{
	__u64 saved[UNWIND_SAVED_WORDS];

	if (rbp < 0 && rbp >= -UNWIND_SAVED_WORDS && bp_base == cfa &&
	    cfa - s->sp >= sizeof(saved)) {
		if (unwind_read(saved, sizeof(saved), cfa - sizeof(saved)))
			return -1;
		*ret_ip = saved[UNWIND_SAVED_WORDS - 1];
		*ret_bp = saved[(UNWIND_SAVED_WORDS + rbp) & (UNWIND_SAVED_WORDS - 1)];
		return 0;
	}
	if (unwind_read(ret_ip, sizeof(*ret_ip), cfa - 8))
		return -1;
	return rbp == UNWIND_RBP_KEPT
		       ? 0
		       : unwind_read(ret_bp, sizeof(*ret_bp), bp_base + (__s64)rbp * 8);
}

/*
 * From a frame to its caller by the row that holds at s->ip - s->is_caller. Returns
 * UNWIND_STEPPED; or how the walk ends, with s as it was: JITBPF_END_NO_RULE also
 * where the row says UNWIND_NOT_MADE.
 */
static inline __attribute__((always_inline)) int unwind_step(struct unwind_state *s,
							     struct unwind_row row)
{
	__s64 offset = row.cfa & ~UNWIND_RULE_MASK;
	__u32 guessed = s->guessed;
	__u64 cfa, ip, bp = s->bp, bp_base;

	switch (row.cfa & UNWIND_RULE_MASK) {
	case UNWIND_CFA_RSP:
		cfa = s->sp + offset;
		break;
	case UNWIND_CFA_RBP:
		cfa = s->bp + offset;
		break;
	case UNWIND_CFA_SAVED:
		if (unwind_read(&cfa, sizeof(cfa), s->bp + offset))
			return JITBPF_END_UNREADABLE;
		break;
	case UNWIND_CFA_SAVED_RSP:
		if (unwind_read(&cfa, sizeof(cfa), s->sp + offset))
			return JITBPF_END_UNREADABLE;
		cfa += 8;
		break;
	case UNWIND_COMMAND:
		switch (row.cfa >> 3) {
		case UNWIND_ROOT:
			return JITBPF_END_ROOT;
		case UNWIND_SIGNAL:
			return unwind_signal(s);
		case UNWIND_PLT:
			cfa = s->sp + 8 + ((s->ip & 15) >= 11 ? 8 : 0);
			break;
		case UNWIND_FRAME_POINTER:
			if (!s->bp)
				return JITBPF_END_ROOT;
			if (s->bp < s->sp)
				return JITBPF_END_BAD_FRAME;
			cfa = s->bp + 16;
			row.rbp = -2;
			guessed = 1;
			break;
		default:
			return JITBPF_END_NO_RULE;
		}
		break;
	default:
		return JITBPF_END_NO_RULE;
	}
	/* Each frame lies above the one before: no walk goes round in circles. */
	if (cfa <= s->sp || cfa & 7)
		return JITBPF_END_BAD_FRAME;
	bp_base = (row.cfa & UNWIND_RULE_MASK) == UNWIND_CFA_SAVED ? s->bp : cfa;
	/* Popped again: compilers do not say so, since the value still stands there below rsp. */
	if (row.rbp != UNWIND_RBP_KEPT && bp_base + (__s64)row.rbp * 8 < s->sp)
		row.rbp = UNWIND_RBP_KEPT;
	if (unwind_saved(s, cfa, bp_base, row.rbp, &ip, &bp))
		return JITBPF_END_UNREADABLE;
	if (!ip)
		return JITBPF_END_ROOT;
	s->ip = ip;
	s->sp = cfa;
	s->bp = bp;
	s->is_caller = 1;
	s->guessed = guessed;
	return UNWIND_STEPPED;
}

/* libc's own frames between the first function of a program or thread and the top of its stack. */
#define UNWIND_MAIN_TOP_BYTES	512
#define UNWIND_THREAD_TOP_BYTES 3072 /* glibc's static TLS, about 1,900, lies there too */
#define UNWIND_STACK_BYTES_MAX	(1ull << 30)

/*
 * The top of the stack that sp points into, 0 where it is not known: that of the main thread
 * (stack_top, where the kernel put its arguments), or that of a thread of libc
 * (thread_pointer, its control block, which lies at the top of its stack).
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
 * Did a walk that ended as `end` at `top` reach the root? Where the top of the stack is known,
 * the distance tells: libc's frames there are built without frame pointers, so that the
 * chain's own end says nothing; and a stack without a single caller is no proof. On any other
 * stack (coroutines) the chain's own end is all there is.
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
	return end == JITBPF_END_ROOT ? JITBPF_END_BAD_FRAME : end;
}

/*
 * How a walk by tables ended of which unwind_step(s, row) said `end`, after so many callers. An
 * outermost frame that says so is believed; one that only has no caller is judged by where it
 * is. A guess that failed is no root, however near the top: libc's own frames there have rules.
 * Nor is code that has no file: something has called it.
 */
static inline __attribute__((always_inline)) enum jitbpf_stack_end unwind_end(
	const struct unwind_state *s, struct unwind_row row, enum jitbpf_stack_end end,
	__u32 callers, __u64 stack_top, __u64 thread_pointer, __u32 has_file)
{
	if (end != JITBPF_END_ROOT || row.cfa == UNWIND_CFA_COMMAND(UNWIND_ROOT))
		return end;
	if (!has_file)
		return JITBPF_END_BAD_FRAME;
	return unwind_judge_end(end, callers, s->sp, s->sp, stack_top, thread_pointer);
}

#endif
