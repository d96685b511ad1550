/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is known of a frame at one place in its code: which registers hold an address in it,
 * or what the caller's rbp was, and where in it that and the CFA were stored.
 */
#ifndef JITBPF_DECODE_X86_FRAME_STATE_H
#define JITBPF_DECODE_X86_FRAME_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"
#include "decode/x86/code_unwind.h"

enum code_base {
	CODE_NOTHING,	 /* not known; offset is 0 */
	CODE_CFA,	 /* the CFA + offset */
	CODE_ALIGNED,	 /* rsp as it was after rounding down + offset: unknown from the CFA */
	CODE_CALLER_RBP, /* what rbp was when the function was called; offset is 0 */
};

struct code_value {
	uint32_t base; /* enum code_base */
	int32_t offset;
};

#define CODE_REGISTERS 16 /* by their numbers in instructions */
#define CODE_RBX       3
#define CODE_RSP       4
#define CODE_RBP       5

struct frame_state {
	struct code_value registers[CODE_REGISTERS];
	struct code_value rbp_at; /* the place of the caller's rbp */
	struct code_value cfa_at; /* the place of the CFA itself, where rsp was rounded down */
};

void frame_state_init(struct frame_state *ret, const struct code_entry *entry);

struct code_value code_value_add(struct code_value value, int64_t distance);
bool code_value_equal(struct code_value a, struct code_value b);

/* Write a register, with what that means for the stack if it is rsp. */
void frame_state_set(struct frame_state *frame, uint32_t reg, struct code_value value);

/* Store 8 bytes, and load them. place may be nothing. */
void frame_state_store(struct frame_state *frame, struct code_value place, struct code_value value);
struct code_value frame_state_load(const struct frame_state *frame, struct code_value place);

void frame_state_push(struct frame_state *frame, struct code_value value, uint32_t size_bytes);
struct code_value frame_state_pop(struct frame_state *frame, uint32_t size_bytes);

/* After a call: what callees may change is not known any more. */
void frame_state_called(struct frame_state *frame);

/* What holds on either of two ways. */
void frame_state_meet(const struct frame_state *a, const struct frame_state *b,
		      struct frame_state *ret);

/* The row that says it: UNWIND_UNKNOWN's where none can. */
struct unwind_row frame_state_row(const struct frame_state *frame);

/* Does a return find its address, and the caller its rbp? */
bool frame_state_can_return(const struct frame_state *frame);

/* Frames kept once, known by number; 0 is none. */
struct code_frames {
	VEC(struct frame_state_entry) entries; /* number 0 is unused */
	struct index_map index;
};

struct frame_state_entry {
	struct frame_state frame;
	struct unwind_row row;
	uint32_t watched; /* registers that hold something; and rsp, rbp always */
	bool watch_all;	  /* instructions may change it without naming a register */
};

#define CODE_FRAMES_MAX 0x4000

/* Number 1 is the frame of which nothing is known. Returns 0 or -ENOMEM. */
#define CODE_FRAME_UNKNOWN 1
int code_frames_init(struct code_frames *ret);
void code_frames_deinit(struct code_frames *frames);

/*
 * The number of a frame; past the limit, CODE_FRAME_UNKNOWN for new ones.
 * Pointers to entries do not outlive it. Returns 0 or -ENOMEM.
 */
int code_frames_add(struct code_frames *frames, const struct frame_state *frame, uint16_t *ret);

static inline const struct frame_state_entry *code_frames_get(const struct code_frames *frames,
							      uint16_t number)
{
	return &frames->entries.data[number];
}

#endif
