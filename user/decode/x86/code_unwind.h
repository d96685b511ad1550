/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind rows of machine code that nobody describes: its instructions are followed from its
 * entry along all ways that they can take, with what each does to rsp and rbp. Where ways
 * join they must agree, else the rows there say UNWIND_UNKNOWN. That gives exact rows for
 * what compilers make, prologues and epilogues too.
 *
 * It is for regions of one function, as engines report them: in several, what stands behind
 * a call that does not return would be taken for more of the function before it.
 */
#ifndef JITBPF_DECODE_X86_CODE_UNWIND_H
#define JITBPF_DECODE_X86_CODE_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/cfi/unwind_rows.h"

#define CODE_UNWIND_BYTES_MAX (1u << 20) /* of one region: a quarter of a second at the worst */

/*
 * The frame that code finds at its entry, as a row: UNWIND_CFA_RSP or UNWIND_CFA_RBP.
 *
 * inside: code of an engine whose interpreter jumps to it, and is jumped back to, with the frame
 * of its own function, this one. Such code has helpers that are called, or that find
 * more on the stack; where its ends do not fit the frame, it is taken for one of them.
 */
struct code_entry {
	int32_t cfa;
	int16_t rbp;
	bool inside;
};

/* Code that is called: rsp points to the return address. */
extern const struct code_entry code_entry_called;

/*
 * The rows of code_bytes at address (which its relative jumps need), entered at its beginning as
 * `entry` says. Code that is not reached that way (cases of a switch, handlers of exceptions) is
 * tried with frames that are likely there, and has the one that what follows bears out, or
 * at least does not contradict; what cannot be known has UNWIND_UNKNOWN. Added to *ret, which is
 * empty; the first row is at 0. Work is linear in the code's size. Returns 0, -EINVAL (empty or too
 * large) or -ENOMEM.
 */
int code_unwind(const uint8_t *code, size_t code_bytes, uint64_t address,
		const struct code_entry *entry, struct unwind_rows *ret);

#endif
