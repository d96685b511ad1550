/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the state of a frame says of its caller. */
#ifndef JITBPF_DECODE_X86_FRAME_ROW_H
#define JITBPF_DECODE_X86_FRAME_ROW_H

#include "decode/x86/frame_state.h"

/* Returns the row that expresses the state, or an UNWIND_UNKNOWN row. */
struct unwind_row frame_state_row(const struct frame_state *frame);

/* Returns true if rsp points to the return address and rbp has the caller's value. */
bool frame_state_can_return(const struct frame_state *frame);

#endif
