/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Steps of the stack unwinder from frames of 32-bit code. */
#ifndef JITBPF_BPF_UNWIND_NARROW_H
#define JITBPF_BPF_UNWIND_NARROW_H

#include "bpf/unwind.h"

/*
 * The interrupted registers in a signal frame of 32-bit code: a part of struct sigcontext, from
 * UNWIND_NARROW_REGS on.
 */
struct unwind_narrow_regs {
	__u32 bp, sp, bx, dx, cx, ax, trap, error, ip, cs;
};

#define UNWIND_NARROW_REGS 24

/* unwind_signal() for 32-bit code. The handler is 32-bit code, too: it has lost 64-bit registers.
 */
static inline __attribute__((always_inline)) int unwind_signal_narrow(struct unwind_state *s,
								      __u64 context)
{
	struct unwind_narrow_regs regs;

	if (unwind_read(&regs, sizeof(regs), context + UNWIND_NARROW_REGS))
		return JITBPF_END_UNREADABLE;
	if (!regs.ip)
		return JITBPF_END_NO_ROOT;
	if (!unwind_cs_is_narrow(regs.cs))
		return JITBPF_END_BAD_FRAME;
	unwind_set(s, regs.ip, regs.sp, regs.bp, 0, UNWIND_OTHER_WORDS);
	return UNWIND_STEPPED;
}

/* unwind_saved() for 32-bit code. ret has the saved ebp, if there is one, and the return address.
 */
static inline __attribute__((always_inline)) int unwind_saved_narrow(struct unwind_state *s,
								     __u64 cfa, __u64 at, int rbp,
								     __u32 ret[2])
{
	if (rbp != UNWIND_RBP_KEPT && at == cfa - 8)
		return unwind_read(ret, 8, at);
	if (unwind_read(&ret[1], 4, cfa - 4))
		return -1;
	return rbp == UNWIND_RBP_KEPT ? 0 : unwind_read(&ret[0], 4, at);
}

/* unwind_step() for a frame of 32-bit code, by a row UNWIND_NARROW_CFA. */
static inline __attribute__((always_inline)) int unwind_step_narrow(struct unwind_state *s,
								    struct unwind_row row)
{
	__u32 guessed = s->guessed, saved[2] = {(__u32)s->bp, 0}, word;
	__u64 cfa, base;

	if (row.cfa == UNWIND_CFA_COMMAND(UNWIND_ROOT))
		return JITBPF_END_ROOT;
	if (row.cfa == UNWIND_CFA_COMMAND(UNWIND_FRAME_POINTER)) {
		if (!s->bp)
			return JITBPF_END_NO_ROOT;
		if (s->bp < s->sp)
			return JITBPF_END_BAD_FRAME;
		row.cfa = UNWIND_NARROW_CFA(UNWIND_NARROW_EBP, 8);
		row.rbp = -2;
		guessed = 1;
	}
	if ((row.cfa & UNWIND_RULE_MASK) != UNWIND_NARROW)
		return JITBPF_END_NO_RULE;
	base = s->bp + (__s64)UNWIND_NARROW_OFFSET(row.cfa);
	switch (UNWIND_NARROW_RULE(row.cfa)) {
	case UNWIND_NARROW_ESP:
		cfa = s->sp + (__s64)UNWIND_NARROW_OFFSET(row.cfa);
		break;
	case UNWIND_NARROW_EBP:
		cfa = base;
		break;
	case UNWIND_NARROW_SAVED:
		if (unwind_read(&word, sizeof(word), base))
			return JITBPF_END_UNREADABLE;
		cfa = word;
		break;
	case UNWIND_NARROW_PLT:
		cfa = s->sp + 4 + ((s->ip & 15) >= 11 ? 4 : 0);
		break;
	case UNWIND_NARROW_SIGNAL:
		return unwind_signal_narrow(s, s->sp + (__s64)UNWIND_NARROW_OFFSET(row.cfa));
	default:
		return JITBPF_END_NO_RULE;
	}
	if (cfa <= s->sp || cfa & 3 || cfa >> 32)
		return JITBPF_END_BAD_FRAME;
	base = UNWIND_NARROW_RULE(row.cfa) == UNWIND_NARROW_SAVED ? s->bp : cfa;
	base += (__s64)row.rbp * 4;
	/* As in unwind_step(): ebp has been popped already. */
	if (base < s->sp)
		row.rbp = UNWIND_RBP_KEPT;
	if (unwind_saved_narrow(s, cfa, base, row.rbp, saved))
		return JITBPF_END_UNREADABLE;
	if (!saved[1])
		return JITBPF_END_NO_ROOT;
	/* bpf/unwind_kept.h compares words of 8 bytes. */
	unwind_set(s, saved[1], cfa, saved[0], 1, UNWIND_OTHER_WORDS);
	s->guessed = guessed;
	return UNWIND_STEPPED;
}

#endif
