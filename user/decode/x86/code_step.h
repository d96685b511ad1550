/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Effect of one instruction on control flow and on the frame. */
#ifndef JITBPF_DECODE_X86_CODE_STEP_H
#define JITBPF_DECODE_X86_CODE_STEP_H

#include <Zydis/Zydis.h>

#include "decode/x86/code_shapes.h"
#include "decode/x86/frame_states.h"

enum code_way {
	CODE_ON,       /* continues with the next instruction */
	CODE_PADDING,  /* the same, and has no effect */
	CODE_CALL,     /* continues with the next instruction if the callee returns */
	CODE_BRANCH,   /* continues with the next instruction or at target */
	CODE_JUMP,     /* continues at target */
	CODE_INDIRECT, /* continues at an unknown place */
	CODE_RETURN,
	CODE_TRAP, /* never continues */
};

struct code_step {
	enum code_way way;
	uint8_t length;
	uint64_t target;	  /* address of a direct branch, jump or call; else 0 */
	uint8_t compared;	  /* register that is compared with rsp; FRAME_REGISTERS if none */
	bool on_if_equal;	  /* a branch that falls through if the comparison was equal */
	bool changes;		  /* the instruction changes the frame, and continues */
	struct frame_state after; /* set if changes is true */
};

struct code_decoder {
	ZydisDecoder zydis;
	/*
	 * Shapes that were seen, and are added. Borrowed; set after code_decoder_init(). NULL: each
	 * instruction is decoded.
	 */
	struct code_shapes *shapes;
};

int code_decoder_init(struct code_decoder *ret);

/*
 * Decode the instruction at code, of at most left_bytes, which is executed at
 * address with a given frame. Returns false if there is no valid instruction.
 */
bool code_step(const struct code_decoder *decoder, const uint8_t *code, size_t left_bytes,
	       uint64_t address, const struct frame_state_entry *frame, struct code_step *ret);

/*
 * The same, if only `way` and `length` are wanted: other members may be those of another frame. It
 * uses shapes whatever the frame is, so it is faster if rsp is not known.
 */
bool code_step_way(const struct code_decoder *decoder, const uint8_t *code, size_t left_bytes,
		   uint64_t address, const struct frame_state_entry *frame, struct code_step *ret);

#endif
