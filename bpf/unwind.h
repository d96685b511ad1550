/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps of the stack unwinder. Compiles for BPF and for user space alike: the
 * includer provides `unwind_read(dst, size, address)`, which copies stack
 * memory and returns 0 or not. Which row holds at a place, each finds in its own way.
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
	/* The handler may run on a stack of its own, so that sp can go either way. */
	s->ip = ip;
	s->sp = sp;
	s->bp = bp;
	s->is_caller = 0;
	return ip ? UNWIND_STEPPED : JITBPF_END_ROOT;
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
	case UNWIND_COMMAND:
		switch (offset / 8) {
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
	if (unwind_read(&ip, sizeof(ip), cfa - 8))
		return JITBPF_END_UNREADABLE;
	if (row.rbp != UNWIND_RBP_KEPT &&
	    unwind_read(&bp, sizeof(bp), bp_base + (__s64)row.rbp * 8))
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

/*
 * As a loop, the walk takes the verifier half a second at each start, all
 * unrolled a twentieth of that.
 */
#ifdef __bpf__
#define UNWIND_UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNWIND_UNROLL
#endif

/*
 * Walk a chain of frame pointers from the frame at bp, and write return
 * addresses to ips, *ret_count of them (at most max). Each frame lies above the
 * one before; sp is where the stack ends: a frame below it is not one.
 * *ret_top is the address behind the outermost frame found, sp if there is none.
 *
 * JITBPF_END_ROOT means that the chain ended by itself, with a zero. Code that
 * uses the frame pointer for something else can look the same: see
 * unwind_judge_end().
 */
static inline __attribute__((always_inline)) enum jitbpf_stack_end unwind_frame_pointers(
	__u64 sp, __u64 bp, __u64 *ips, __u32 max, __u32 *ret_count, __u64 *ret_top)
{
	struct {
		__u64 bp, return_address;
	} frame;
	enum jitbpf_stack_end end = JITBPF_END_DEPTH;
	__u64 top = sp;
	__u32 i;

	UNWIND_UNROLL
	for (i = 0; i < max; i++) {
		if (!bp) {
			end = JITBPF_END_ROOT;
			break;
		}
		if (bp < top || bp & 7) {
			end = JITBPF_END_BAD_FRAME;
			break;
		}
		if (unwind_read(&frame, sizeof(frame), bp)) {
			end = JITBPF_END_UNREADABLE;
			break;
		}
		if (!frame.return_address) {
			end = JITBPF_END_ROOT;
			break;
		}
		ips[i] = frame.return_address;
		top = bp + sizeof(frame);
		bp = frame.bp;
	}
	*ret_count = i;
	*ret_top = top;
	return end;
}

/* libc's own frames between the first function of a program or thread and the top of its stack. */
#define UNWIND_MAIN_TOP_BYTES	512
#define UNWIND_THREAD_TOP_BYTES 3072 /* glibc's static TLS, about 1,900, lies there too */
#define UNWIND_STACK_BYTES_MAX	(1ull << 30)

/*
 * Did a walk that ended as `end` at `top` reach the root? Where the stack that
 * sp points into is one whose top is known, the distance tells: the stack of the
 * main thread (stack_top, where the kernel put its arguments), or that of a
 * thread of libc (thread_pointer, its control block, which lies at the top of
 * its stack). libc's frames there are built without frame pointers, so that the
 * chain's own end says nothing; and a stack without a single caller is no proof. On any other stack
 * (coroutines) the chain's own end is all there is.
 */
static inline __attribute__((always_inline)) enum jitbpf_stack_end unwind_judge_end(
	enum jitbpf_stack_end end, __u32 callers, __u64 sp, __u64 top, __u64 stack_top,
	__u64 thread_pointer)
{
	__u64 limit, room;

	if (end == JITBPF_END_DEPTH)
		return end;
	if (sp <= stack_top && stack_top - sp < UNWIND_STACK_BYTES_MAX) {
		limit = stack_top;
		room = UNWIND_MAIN_TOP_BYTES;
	} else if (sp <= thread_pointer && thread_pointer - sp < UNWIND_STACK_BYTES_MAX) {
		limit = thread_pointer;
		room = UNWIND_THREAD_TOP_BYTES;
	} else {
		return end;
	}
	if (top <= limit && limit - top <= room)
		return callers ? JITBPF_END_ROOT : end;
	return end == JITBPF_END_ROOT ? JITBPF_END_BAD_FRAME : end;
}

#endif
