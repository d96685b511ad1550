/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is known of a frame at one place in its code: which registers hold an address in it,
 * or what the caller's rbp was, and where in it that and the CFA were stored.
 */
#ifndef JITBPF_DECODE_CODE_FRAME_H
#define JITBPF_DECODE_CODE_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"
#include "decode/code_unwind.h"

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

struct code_frame {
	struct code_value registers[CODE_REGISTERS];
	struct code_value rbp_at; /* the place of the caller's rbp */
	struct code_value cfa_at; /* the place of the CFA itself, where rsp was rounded down */
};

void code_frame_init(struct code_frame *ret, const struct code_entry *entry);

struct code_value code_value_add(struct code_value value, int64_t distance);
bool code_value_equal(struct code_value a, struct code_value b);

/* Write a register, with what that means for the stack if it is rsp. */
void code_frame_set(struct code_frame *frame, uint32_t reg, struct code_value value);

/* Store 8 bytes, and load them. place may be nothing. */
void code_frame_store(struct code_frame *frame, struct code_value place, struct code_value value);
struct code_value code_frame_load(const struct code_frame *frame, struct code_value place);

void code_frame_push(struct code_frame *frame, struct code_value value, uint32_t size_bytes);
struct code_value code_frame_pop(struct code_frame *frame, uint32_t size_bytes);

/* After a call: what callees may change is not known any more. */
void code_frame_called(struct code_frame *frame);

/* What holds on either of two ways. */
void code_frame_meet(const struct code_frame *a, const struct code_frame *b,
		     struct code_frame *ret);

/* The row that says it: UNWIND_UNKNOWN's where none can. */
struct unwind_row code_frame_row(const struct code_frame *frame);

/* Does a return find its address, and the caller its rbp? */
bool code_frame_can_return(const struct code_frame *frame);

/* Frames kept once, known by number; 0 is none. */
struct code_frames {
	VEC(struct code_frame_entry) entries; /* number 0 is unused */
	struct index_map index;
};

struct code_frame_entry {
	struct code_frame frame;
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
int code_frames_add(struct code_frames *frames, const struct code_frame *frame, uint16_t *ret);

static inline const struct code_frame_entry *code_frames_get(const struct code_frames *frames,
							     uint16_t number)
{
	return &frames->entries.data[number];
}

#endif
