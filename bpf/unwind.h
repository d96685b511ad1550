/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps of the stack unwinder, for BPF and user space. The includer defines
 * `unwind_read(dst, size, address)`, which copies stack memory and returns 0 on success; it
 * may use `s`, the state of the walk. The caller looks up the row for each step; the BPF
 * program does so by bpf/unwind_search.h. Frames of 32-bit code: bpf/unwind_narrow.h; how a walk
 * ends: bpf/unwind_end.h.
 */
#ifndef JITBPF_BPF_UNWIND_H
#define JITBPF_BPF_UNWIND_H

#include "uapi/record.h"
#include "uapi/unwind.h"

/* The state of a walk: the registers of the current frame that the unwinder tracks. */
struct unwind_state {
	__u64 ip, sp, bp;
	__u64 thread_pointer; /* fsbase of the thread; does not change */
	__u32 is_caller;      /* ip is a return address: look up the code before it */
	__u32 guessed;	      /* a frame so far was found by UNWIND_FRAME_POINTER */
	__s32 rbp;	      /* rbp of the last step's row, or UNWIND_OTHER_WORDS */
	__u32 narrow;	      /* the frame is of 32-bit code: see unwind_step_narrow() */
};

/* The step read words besides the return address and an rbp that is relative to the CFA. */
#define UNWIND_OTHER_WORDS 0x10000

#define UNWIND_STEPPED 0 /* s is the caller's frame; other values: enum jitbpf_stack_end */

/*
 * The interrupted registers in a signal frame, which is a struct ucontext at rsp: a part of its
 * gregs. The upper bits of cs are other segments.
 */
struct unwind_signal_regs {
	__u64 bp, bx, dx, ax, cx, sp, ip, flags, cs;
};

#define UNWIND_SIGNAL_REGS 120 /* their offset */
#define UNWIND_CS	   0x33
#define UNWIND_CS_XEN	   0xe033 /* in a paravirtualized guest */
#define UNWIND_CS_32	   0x23
#define UNWIND_CS_32_XEN   0xe023

/* Return whether a code segment is that of 64-bit, or of 32-bit, code; else its code is neither. */
static inline __attribute__((always_inline)) int unwind_cs_is_wide(__u64 cs)
{
	return (cs & 0xffff) == UNWIND_CS || (cs & 0xffff) == UNWIND_CS_XEN;
}

static inline __attribute__((always_inline)) int unwind_cs_is_narrow(__u64 cs)
{
	return (cs & 0xffff) == UNWIND_CS_32 || (cs & 0xffff) == UNWIND_CS_32_XEN;
}

/* Makes s the state of another frame. rbp: as in struct unwind_state. */
static inline __attribute__((always_inline)) void unwind_set(struct unwind_state *s, __u64 ip,
							     __u64 sp, __u64 bp, __u32 is_caller,
							     __s32 rbp)
{
	s->ip = ip;
	s->sp = sp;
	s->bp = bp;
	s->is_caller = is_caller;
	s->rbp = rbp;
}

/* Returns the value for words in struct jitbpf_sample. */
static inline __attribute__((always_inline)) __u64 unwind_frame_ip(const struct unwind_state *s)
{
	return s->ip + !s->is_caller;
}

/* Reads the registers of a signal frame. Returns 0, or how a walk through it ends. */
static inline __attribute__((always_inline)) int unwind_signal_read(struct unwind_state *s,
								    __u64 frame,
								    struct unwind_signal_regs *ret)
{
	if (unwind_read(ret, sizeof(*ret), frame + UNWIND_SIGNAL_REGS))
		return JITBPF_END_UNREADABLE;
	if (!ret->ip)
		return JITBPF_END_NO_ROOT; /* a call through a NULL pointer */
	return unwind_cs_is_wide(ret->cs) || unwind_cs_is_narrow(ret->cs) ? 0
									  : JITBPF_END_BAD_FRAME;
}

static inline __attribute__((always_inline)) int unwind_signal(struct unwind_state *s)
{
	struct unwind_signal_regs regs;
	int end = unwind_signal_read(s, s->sp, &regs);

	if (end)
		return end;
	/* No check that sp grows: the handler may run on an alternate stack. */
	unwind_set(s, regs.ip, regs.sp, regs.bp, 0, UNWIND_OTHER_WORDS);
	s->narrow = unwind_cs_is_narrow(regs.cs);
	return UNWIND_STEPPED;
}

/*
 * Corrects the leaf of a sample in the kernel. To deliver a signal, the kernel sets sp to the
 * signal frame, and ip to the handler only after that. A sample between these two steps finds the
 * ip of the interrupted frame with the sp of the signal frame, which holds the same ip. Then s
 * becomes the interrupted frame. The state is the same if a handler, interrupted at its first
 * instruction, is called for a second signal; then s becomes the frame before the second delivery.
 */
static inline __attribute__((always_inline)) void unwind_undo_delivery(struct unwind_state *s)
{
	__u64 frame = s->sp + 8; /* behind the address to which the handler returns */
	struct unwind_signal_regs regs;

	if (unwind_signal_read(s, frame, &regs) || regs.ip != s->ip || !unwind_cs_is_wide(regs.cs))
		return;
	unwind_set(s, regs.ip, regs.sp, regs.bp, 0, UNWIND_OTHER_WORDS);
}

/* Steps from a frame with an UNWIND_INTERPRETER row. */
static inline __attribute__((always_inline)) int unwind_interpreter(struct unwind_state *s)
{
	__u64 saved[3]; /* rsp, rbp, the return address */

	if (s->bp < s->sp)
		return JITBPF_END_BAD_FRAME;
	if (unwind_read(saved, sizeof(saved), s->bp - 8))
		return JITBPF_END_UNREADABLE;
	if (saved[0] <= s->bp || saved[0] & 7)
		return JITBPF_END_BAD_FRAME;
	if (!saved[2])
		return JITBPF_END_NO_ROOT;
	unwind_set(s, saved[2], saved[0], saved[1], 1, UNWIND_OTHER_WORDS);
	return UNWIND_STEPPED;
}

/* Steps from a frame with an UNWIND_SAVED row. It is a root if the second pointer is NULL. */
static inline __attribute__((always_inline)) int unwind_saved_at(struct unwind_state *s,
								 struct unwind_row row)
{
	__u64 at = s->thread_pointer + (__s64)row.rbp * 8, saved[8]; /* rsp, rip, others, rbp */

	if (unwind_read(&at, sizeof(at), at) ||
	    unwind_read(&at, sizeof(at), at + UNWIND_SAVED_FIRST(row.cfa)) ||
	    unwind_read(&at, sizeof(at), at + UNWIND_SAVED_SECOND(row.cfa)))
		return JITBPF_END_UNREADABLE;
	if (!at)
		return JITBPF_END_ROOT;
	if (unwind_read(saved, sizeof(saved), at + UNWIND_SAVED_OFFSET(row.cfa)))
		return JITBPF_END_UNREADABLE;
	if (!saved[0] || saved[0] & 7 || !saved[1])
		return JITBPF_END_BAD_FRAME;
	unwind_set(s, saved[1], saved[0], saved[UNWIND_SAVED_FRAME(row.cfa) & 7], 1,
		   UNWIND_OTHER_WORDS);
	return UNWIND_STEPPED;
}

#define UNWIND_SAVED_WORDS 8 /* the return address and the registers pushed below it */

/*
 * Reads the return address, and rbp if it is saved. In BPF, a read call costs more than the
 * rest of a step, whatever its size. So if both values are close together, one call reads
 * them.
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
 * Steps from a frame to its caller by the row for s->ip - s->is_caller. Returns
 * UNWIND_STEPPED; or how the walk ends, and leaves s unchanged. A row UNWIND_NOT_MADE
 * gives JITBPF_END_NO_RULE. After a step by UNWIND_FRAME_POINTER, rbp may have had any value: the
 * includer checks that a frame can return to s->ip (bpf/call_site.h).
 */
static inline __attribute__((always_inline)) int unwind_step(struct unwind_state *s,
							     struct unwind_row row)
{
	__s64 offset = row.cfa & ~UNWIND_RULE_MASK;
	int other_words = 0, switched = 0;
	__u32 guessed = s->guessed;
	__u64 cfa, ip, bp = s->bp, bp_base;

	switch (row.cfa & UNWIND_RULE_MASK) {
	case UNWIND_CFA_RSP:
	case UNWIND_CFA_RSP_FINAL:
		cfa = s->sp + offset;
		break;
	case UNWIND_CFA_RBP:
	case UNWIND_CFA_RBP_FINAL:
		cfa = s->bp + offset;
		break;
	case UNWIND_CFA_SAVED:
		if (unwind_read(&cfa, sizeof(cfa), s->bp + offset))
			return JITBPF_END_UNREADABLE;
		other_words = 1;
		break;
	case UNWIND_CFA_SAVED_RSP:
		if (unwind_read(&cfa, sizeof(cfa), s->sp + (__s64)UNWIND_SLOT(row.cfa)))
			return JITBPF_END_UNREADABLE;
		cfa += (__s64)UNWIND_SLOT_DISTANCE(row.cfa);
		other_words = 1;
		break;
	case UNWIND_COMMAND:
		switch (row.cfa >> 3) {
		case UNWIND_ROOT:
			return JITBPF_END_ROOT;
		case UNWIND_SIGNAL:
			return unwind_signal(s);
		case UNWIND_INTERPRETER:
			return unwind_interpreter(s);
		case UNWIND_PLT:
			cfa = s->sp + 8 + ((s->ip & 15) >= 11 ? 8 : 0);
			break;
		case UNWIND_FRAME_POINTER:
			if (!s->bp)
				return JITBPF_END_NO_ROOT;
			if (s->bp < s->sp)
				return JITBPF_END_BAD_FRAME;
			cfa = s->bp + 16;
			row.rbp = -2;
			guessed = 1;
			break;
		case UNWIND_SWITCHED:
			cfa = s->bp + 16;
			row.rbp = -2;
			other_words = switched = 1;
			break;
		case UNWIND_FROZEN:
			return JITBPF_END_FROZEN;
		default:
			return UNWIND_COMMAND_OF(row.cfa) == UNWIND_SAVED ? unwind_saved_at(s, row)
									  : JITBPF_END_NO_RULE;
		}
		break;
	default:
		return JITBPF_END_NO_RULE;
	}
	/*
	 * Each frame is above the one before, except on another stack. A loop through several
	 * stacks ends at the limit of frames.
	 */
	if ((cfa <= s->sp && !switched) || cfa & 7)
		return JITBPF_END_BAD_FRAME;
	bp_base = (row.cfa & UNWIND_RULE_MASK) == UNWIND_CFA_SAVED ? s->bp : cfa;
	/*
	 * The slot is below rsp, so rbp has been popped already. Compilers leave the rule in force
	 * in an epilogue, because the slot still holds the value.
	 */
	if (row.rbp != UNWIND_RBP_KEPT && !switched && bp_base + (__s64)row.rbp * 8 < s->sp)
		row.rbp = UNWIND_RBP_KEPT;
	if (unwind_saved(s, cfa, bp_base, row.rbp, &ip, &bp))
		return JITBPF_END_UNREADABLE;
	if (!ip)
		return JITBPF_END_NO_ROOT;
	unwind_set(s, ip, cfa, bp, 1, other_words ? UNWIND_OTHER_WORDS : row.rbp);
	s->guessed = guessed;
	return UNWIND_STEPPED;
}

#endif
