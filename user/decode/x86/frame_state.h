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

enum frame_base {
	FRAME_NOTHING,	  /* not known; offset is 0 */
	FRAME_CFA,	  /* the CFA + offset */
	FRAME_ALIGNED,	  /* rsp as it was after rounding down + offset: unknown from the CFA */
	FRAME_CALLER_RBP, /* what rbp was when the function was called; offset is 0 */
};

struct frame_value {
	uint32_t base; /* enum frame_base */
	int32_t offset;
};

#define FRAME_REGISTERS 16 /* by their numbers in instructions */
#define FRAME_RBX	3
#define FRAME_RSP	4
#define FRAME_RBP	5

struct frame_state {
	struct frame_value registers[FRAME_REGISTERS];
	struct frame_value rbp_at; /* the place of the caller's rbp */
	struct frame_value cfa_at; /* the place of the CFA itself, where rsp was rounded down */
};

void frame_state_init(struct frame_state *ret, const struct code_entry *entry);

struct frame_value frame_value_add(struct frame_value value, int64_t distance);
bool frame_value_equal(struct frame_value a, struct frame_value b);

/* Write a register, with what that means for the stack if it is rsp. */
void frame_state_set(struct frame_state *frame, uint32_t reg, struct frame_value value);

/* Store 8 bytes, and load them. place may be nothing. */
void frame_state_store(struct frame_state *frame, struct frame_value place,
		       struct frame_value value);
struct frame_value frame_state_load(const struct frame_state *frame, struct frame_value place);

void frame_state_push(struct frame_state *frame, struct frame_value value, uint32_t size_bytes);
struct frame_value frame_state_pop(struct frame_state *frame, uint32_t size_bytes);

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
struct frame_states {
	VEC(struct frame_state_entry) entries; /* number 0 is unused */
	struct index_map index;
};

struct frame_state_entry {
	struct frame_state frame;
	struct unwind_row row;
	uint32_t watched; /* registers that hold something; and rsp, rbp always */
	bool watch_all;	  /* instructions may change it without naming a register */
};

#define FRAME_STATES_MAX 0x4000

/* Number 1 is the frame of which nothing is known. Returns 0 or -ENOMEM. */
#define FRAME_STATE_UNKNOWN 1
int frame_states_init(struct frame_states *ret);
void frame_states_deinit(struct frame_states *frames);

/*
 * The number of a frame; past the limit, FRAME_STATE_UNKNOWN for new ones.
 * Pointers to entries do not outlive it. Returns 0 or -ENOMEM.
 */
int frame_states_add(struct frame_states *frames, const struct frame_state *frame, uint16_t *ret);

static inline const struct frame_state_entry *frame_states_get(const struct frame_states *frames,
							       uint16_t number)
{
	return &frames->entries.data[number];
}

#endif
