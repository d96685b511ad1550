/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Control flow analysis of machine code. The code is followed along all direct
 * branches, and the frame at each reached instruction is recorded. Targets of
 * indirect jumps are unknown. Code that is not reached is followed in trials: a
 * trial assumes a frame, and is accepted if the code that follows confirms it.
 */
#ifndef JITBPF_DECODE_X86_CODE_FLOW_H
#define JITBPF_DECODE_X86_CODE_FLOW_H

#include "decode/x86/code_edges.h"
#include "decode/x86/code_starts.h"
#include "decode/x86/code_step.h"

enum code_point_flag {
	CODE_POINT_INDIRECT = 1, /* an indirect jump */
	CODE_POINT_CALL = 2,
	CODE_POINT_BEHIND_CALL = 4, /* reached only from the call before it */
	CODE_POINT_NO_RETURN = 8,   /* the call before it does not return */
	CODE_POINT_ON_TRIAL = 16,
	CODE_POINT_JOIN = 32, /* reached from several instructions */
	CODE_POINT_LEAD = 64, /* in code_flow.leads */
};

#define CODE_NO_CALL UINT32_MAX

/* The state of one code byte. It is set for bytes where a reached instruction begins. */
struct code_point {
	uint16_t frame; /* number in code_flow.frames; 0 if not reached */
	uint8_t length;
	uint8_t flags;
	uint32_t from; /* offset of the instruction that it was first reached from */
};

struct code_flow {
	const uint8_t *code;
	uint32_t code_bytes;
	uint64_t address;
	/*
	 * The code is a part of a file, with several functions. NULL: it is one function. Borrowed,
	 * and set after code_flow_init().
	 */
	const struct code_starts *starts;
	struct code_decoder decoder;
	struct code_shapes *shapes; /* of large code; NULL: none */
	struct frame_states frames;
	struct code_point *points; /* one per code byte */
	/*
	 * Worklists. A lead is an edge to a point whose frame is set already. Code after calls is
	 * followed last, since a call may not return.
	 */
	code_edges leads, behind_calls;
	VEC(uint32_t) on_trial; /* offsets of points that the current trial reached */
	bool trial, refuted;
	uint16_t trial_frame; /* frame at the start of the current trial */
	bool trial_moved;     /* the current trial has changed rsp */
	uint32_t
		confirmations; /* of the current trial; or of the entry, by returns and jumps out */
	/*
	 * Set when a call turns out not to return after the code behind it was
	 * followed: start again.
	 */
	bool again;
	/* rsp at the first return and at the first indirect jump; not set by trials. */
	struct frame_value at_return, at_indirect;
	uint32_t frame_call; /* offset of the call whose callee makes the frame; CODE_NO_CALL */
	uint64_t instructions_left; /* work budget */
};

/* Returns a frame by its number. */
static inline const struct frame_state_entry *code_flow_frame(const struct code_flow *flow,
							      uint16_t number)
{
	return frame_states_get(&flow->frames, number);
}

/* Borrows code. Returns 0 or -ENOMEM. */
int code_flow_init(struct code_flow *ret, const uint8_t *code, uint32_t code_bytes,
		   uint64_t address);
void code_flow_deinit(struct code_flow *flow);

/*
 * Follow the code from offset 0, with a given frame. Where paths join with
 * conflicting frames, the frame is unknown from there on. Returns 0, -E2BIG
 * (the work budget is spent; the points are not usable) or -ENOMEM.
 */
int code_flow_enter(struct code_flow *flow, uint16_t frame);

/*
 * Run a trial: follow the code from an offset that was not reached, with a given frame. The trial
 * is accepted if nothing refutes it (each return finds its address, joining paths agree) and at
 * least `confirmations` paths confirm it. Otherwise the points are unchanged. Returns 0, -E2BIG or
 * -ENOMEM. On return 0, *ret_taken is true if the trial was accepted, and *ret_end is the end of
 * the straight-line code at offset.
 */
int code_flow_try(struct code_flow *flow, uint32_t offset, uint16_t frame, uint32_t confirmations,
		  bool *ret_taken, uint32_t *ret_end);

#endif
