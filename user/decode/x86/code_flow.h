/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Follows code along all ways that it can take, and notes for each instruction the frame
 * that it finds. What a jump through a register leads to is not followed; that is what trials
 * are for: from a place that nothing is known to lead to, with a frame that is a guess, which
 * what follows has to bear out.
 */
#ifndef JITBPF_DECODE_X86_CODE_FLOW_H
#define JITBPF_DECODE_X86_CODE_FLOW_H

#include "decode/x86/code_step.h"

enum code_point_flag {
	CODE_POINT_INDIRECT = 1, /* a jump to nobody knows where */
	CODE_POINT_CALL = 2,
	CODE_POINT_BEHIND_CALL = 4, /* reached from the call before it, and in no other way */
	CODE_POINT_NO_RETURN = 8,   /* the call before it does not return */
	CODE_POINT_ON_TRIAL = 16,
};

/* A byte of the code: where an instruction that was reached begins. */
struct code_point {
	uint16_t frame; /* number of the frame there; 0: not reached */
	uint8_t length;
	uint8_t flags;
};

struct code_lead {
	uint32_t offset;
	uint16_t frame;
	bool behind_call;
};

typedef VEC(struct code_lead) code_leads;

struct code_flow {
	const uint8_t *code;
	uint32_t code_bytes;
	uint64_t address;
	struct code_decoder decoder;
	struct frame_states frames;
	struct code_point *points; /* of each byte */
	/* Where to go on; behind calls last of all, since they might not return. */
	code_leads leads, leads_behind_calls;
	VEC(uint32_t) on_trial; /* points, of the trial under way */
	bool trial, refuted;
	uint16_t trial_frame; /* with which it began */
	uint32_t confirmations;
	/* A call was found not to return when what is behind it had been followed already. */
	bool again;
	/* rsp at the first return, and at the first jump through a register, but for trials. */
	struct frame_value at_return, at_indirect;
	uint64_t instructions_left; /* that may still be looked at */
};

/* Borrows code. Returns 0 or -ENOMEM. */
int code_flow_init(struct code_flow *ret, const uint8_t *code, uint32_t code_bytes,
		   uint64_t address);
void code_flow_deinit(struct code_flow *flow);

/*
 * Follow the code from its beginning, where it finds the frame of this number. Where ways join
 * and disagree nothing is known from there on. Returns 0, -E2BIG (too many instructions to
 * look at: what points say is of no use) or -ENOMEM.
 */
int code_flow_enter(struct code_flow *flow, uint16_t frame);

/*
 * Follow it from a place that was not reached, with the frame of this number. It is taken if
 * that contradicts nothing: a return finds its address, and what is joined agrees; and so many
 * ways confirm it: else all is as it was. Returns 0 with *ret_taken set, and *ret_end to where
 * the code first leads somewhere else. Or -E2BIG, -ENOMEM.
 */
int code_flow_try(struct code_flow *flow, uint32_t offset, uint16_t frame, uint32_t confirmations,
		  bool *ret_taken, uint32_t *ret_end);

#endif
