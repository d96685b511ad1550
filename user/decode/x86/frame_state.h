/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The abstract state of a frame at one instruction: the known values of registers and stack slots
 * from which the CFA and the caller's rbp can be found.
 */
#ifndef JITBPF_DECODE_X86_FRAME_STATE_H
#define JITBPF_DECODE_X86_FRAME_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/x86/code_entry.h"

enum frame_base {
	FRAME_NOTHING,	  /* unknown; offset is 0 */
	FRAME_CFA,	  /* the CFA + offset; the CFA is a multiple of 16 */
	FRAME_CALLER_RBP, /* rbp at the entry of the function; offset is 0 */
	FRAME_CONSTANT,	  /* the number `offset` */
	FRAME_RETURN,	  /* the return address; offset is 0 */
	/*
	 * A stack address + offset. The stack address is the value of rsp when the code last
	 * executed one place. Its distance to the CFA is unknown.
	 */
	FRAME_ALIGNED, /* a multiple of 16: after `and $-64,%rsp` */
	FRAME_MOVED,   /* rsp after another instruction */
	FRAME_JOINED,  /* rsp where paths with different values join */
};

#define FRAME_BASE_MASK	  7
#define FRAME_PLACE_SHIFT 3

struct frame_value {
	uint32_t base; /* enum frame_base | place << FRAME_PLACE_SHIFT */
	int32_t offset;
};

/*
 * Returns a base for a place, which is identified by the low bits of its address. These differ
 * between any two places of a region.
 */
static inline uint32_t frame_base_at(enum frame_base base, uint64_t address)
{
	return (uint32_t)address << FRAME_PLACE_SHIFT | base;
}

#define FRAME_RETURN_SLOT ((struct frame_value){FRAME_CFA, -8}) /* of the return address */

#define FRAME_REGISTERS 16 /* indexed by their encoding in instructions */
#define FRAME_RBX	3
#define FRAME_RSP	4
#define FRAME_RBP	5

/* An 8-byte word of the stack that holds a stack address or a copy of the return address. */
struct frame_slot {
	struct frame_value place, value;
};

#define FRAME_SLOTS 6 /* nested realigned frames need one each */

struct frame_state {
	struct frame_value registers[FRAME_REGISTERS];
	struct frame_value rbp_at; /* address of the saved caller's rbp */
	/* Address of the return address: CFA - 8, or FRAME_NOTHING: it was taken off the stack. */
	struct frame_value return_at;
	struct frame_slot slots[FRAME_SLOTS]; /* ascending by place; unused ones are zero */
};

void frame_state_init(struct frame_state *ret, const struct code_entry *entry);

struct frame_value frame_value_add(struct frame_value value, int64_t distance);
bool frame_value_equal(struct frame_value a, struct frame_value b);
bool frame_value_is_address(struct frame_value value);

/* Set a register. Changing rsp also invalidates saved values below the new rsp. */
void frame_state_set(struct frame_state *frame, uint32_t reg, struct frame_value value);

/*
 * Set a register to a base with offset 0. Values of that base are forgotten: they
 * are from an earlier execution of the same place.
 */
void frame_state_rebase(struct frame_state *frame, uint32_t reg, uint32_t base);

/* Effect of an 8-byte store or load. place may be FRAME_NOTHING. */
void frame_state_store(struct frame_state *frame, struct frame_value place,
		       struct frame_value value);
struct frame_value frame_state_load(const struct frame_state *frame, struct frame_value place);

/* Effect of a store of any other value: slots in [place, place + size_bytes) become unknown. */
void frame_state_overwrite(struct frame_state *frame, struct frame_value place,
			   uint32_t size_bytes);

/*
 * A push of the return address, after code that has taken it off the stack, makes a frame of its
 * own: the CFA is behind the address, and rbp is what the caller finds. Callees that remove
 * arguments of an unknown number do so, and those that make the frame of their caller.
 */
void frame_state_push(struct frame_state *frame, struct frame_value value, uint32_t size_bytes);
struct frame_value frame_state_pop(struct frame_state *frame, uint32_t size_bytes);

/* Effect of a call: the registers that a callee may change become unknown. */
void frame_state_called(struct frame_state *frame);

/*
 * Join the state at an address with that of another path to it. Values that differ
 * become unknown; rsp becomes FRAME_JOINED.
 */
void frame_state_meet(const struct frame_state *there, const struct frame_state *arriving,
		      uint64_t address, struct frame_state *ret);

#endif
