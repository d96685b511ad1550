/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One instruction: where it leads, and what it does to the frame. */
#ifndef JITBPF_DECODE_X86_CODE_STEP_H
#define JITBPF_DECODE_X86_CODE_STEP_H

#include <Zydis/Zydis.h>

#include "decode/x86/frame_state.h"

enum code_way {
	CODE_ON,       /* to the next instruction */
	CODE_PADDING,  /* likewise, and does nothing */
	CODE_CALL,     /* likewise, if what is called returns */
	CODE_BRANCH,   /* to the next one or to target */
	CODE_JUMP,     /* to target */
	CODE_INDIRECT, /* nobody knows where */
	CODE_RETURN,
	CODE_TRAP, /* it ends here */
};

struct code_step {
	enum code_way way;
	uint8_t length;
	uint64_t target;  /* of a branch or jump, an address; of a direct call; else 0 */
	uint8_t compared; /* the register that it compares with rsp; FRAME_REGISTERS: none */
	bool on_if_equal; /* of a branch: it goes on where what was compared is equal */
	bool changes;	  /* the frame */
	struct frame_state after; /* set where it changes */
};

struct code_decoder {
	ZydisDecoder zydis;
};

int code_decoder_init(struct code_decoder *ret);

/*
 * What the instruction at code (of which left_bytes are there), which stands at address,
 * makes of the frame. False where there is none.
 */
bool code_step(const struct code_decoder *decoder, const uint8_t *code, size_t left_bytes,
	       uint64_t address, const struct frame_state_entry *frame, struct code_step *ret);

#endif
