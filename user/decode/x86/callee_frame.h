/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds code whose prologue is done by a callee: V8's baseline compiler calls a builtin that takes
 * its return address from the stack, pushes rbp and the registers of the bytecode, and returns. The
 * frame after such a call cannot be known from the code's own instructions.
 */
#ifndef JITBPF_DECODE_X86_CALLEE_FRAME_H
#define JITBPF_DECODE_X86_CALLEE_FRAME_H

#include "decode/x86/code_flow.h"

/*
 * Returns the offset of the call that makes the frame, after code_flow_enter(); CODE_NO_CALL if
 * there is none. The evidence: rbp would still be the caller's, but behind the call, and only
 * there, the code accesses memory relative to it; and the code has no return, or the first one
 * would not find its address.
 */
uint32_t callee_frame_call(const struct code_flow *flow);

#endif
