/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The effect of instructions on the values that a frame has in registers and on the stack. */
#ifndef JITBPF_DECODE_X86_FRAME_EFFECT_H
#define JITBPF_DECODE_X86_FRAME_EFFECT_H

#include <Zydis/Zydis.h>

#include "decode/x86/frame_state.h"

/*
 * Apply an instruction at an address, with its operands, to the frame before it. What it writes,
 * and how is not known, has no value then. Not for calls.
 */
void frame_effect_apply(struct frame_state *frame, const ZydisDecodedInstruction *instruction,
			const ZydisDecodedOperand *operands, uint64_t address);

/* Apply a call whose target is known or 0; next is the address behind it. */
void frame_effect_call(struct frame_state *frame, uint64_t target, uint64_t next);

#endif
