/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/frame_row.h"

/* Returns the slot of the caller's rbp relative to base, in words; UNWIND_RBP_KEPT if unknown. */
static int16_t rbp_place(const struct frame_state *frame, struct frame_value base)
{
	int32_t words = (frame->rbp_at.offset - base.offset) / 8;

	if (frame->rbp_at.base != base.base || frame->rbp_at.offset % 8 || words < INT16_MIN ||
	    words >= UNWIND_RBP_KEPT)
		return UNWIND_RBP_KEPT;
	return (int16_t)words;
}

/* Returns the slot whose place and value have these bases, or NULL. */
static const struct frame_slot *slot_of(const struct frame_state *frame, uint32_t place,
					uint32_t value)
{
	for (uint32_t i = 0; i < FRAME_SLOTS; i++) {
		if (frame->slots[i].place.base == place && frame->slots[i].value.base == value)
			return &frame->slots[i];
	}
	return NULL;
}

/* Find the CFA through a slot at a distance from rbp, or else from rsp. */
static bool row_by_slot(const struct frame_state *frame, struct unwind_row *row)
{
	struct frame_value rsp = frame->registers[FRAME_RSP], rbp = frame->registers[FRAME_RBP];
	const struct frame_slot *slot = NULL;
	int32_t at, distance;

	if (frame_value_is_address(rbp))
		slot = slot_of(frame, rbp.base, FRAME_CFA);
	if (slot && !slot->value.offset && (slot->place.offset - rbp.offset) % 8 == 0) {
		row->cfa = UNWIND_CFA(UNWIND_CFA_SAVED, slot->place.offset - rbp.offset);
		row->rbp = rbp_place(frame, rbp);
		return true;
	}
	slot = frame_value_is_address(rsp) ? slot_of(frame, rsp.base, FRAME_CFA) : NULL;
	/* The caller's rbp must be known, too: the caller may have a frame pointer. */
	if (!slot || (row->rbp == UNWIND_RBP_KEPT && rbp.base != FRAME_CALLER_RBP))
		return false;
	at = slot->place.offset - rsp.offset;
	distance = -slot->value.offset;
	if (at % 8 || at < -UNWIND_SLOT_MAX || at >= UNWIND_SLOT_MAX || distance % 8 ||
	    distance < -UNWIND_SLOT_DISTANCE_MAX || distance >= UNWIND_SLOT_DISTANCE_MAX)
		return false;
	row->cfa = UNWIND_CFA_AT_SLOT(at, distance);
	return true;
}

struct unwind_row frame_state_row(const struct frame_state *frame)
{
	struct frame_value rsp = frame->registers[FRAME_RSP], rbp = frame->registers[FRAME_RBP];
	struct frame_value cfa = {FRAME_CFA, 0};
	struct unwind_row row = {.rbp = rbp_place(frame, cfa)};

	/* Prefer rbp if it points to the saved rbp (a frame pointer); otherwise prefer rsp. */
	bool by_rbp = rbp.base == FRAME_CFA && rbp.offset % 8 == 0;
	bool by_rsp = rsp.base == FRAME_CFA && rsp.offset % 8 == 0 && rsp.offset <= -8;

	if (!frame_value_equal(frame->return_at, FRAME_RETURN_SLOT)) {
		row.cfa = UNWIND_CFA_COMMAND(UNWIND_UNKNOWN);
		row.rbp = UNWIND_RBP_KEPT;
	} else if (by_rbp && (!by_rsp || frame_value_equal(rbp, frame->rbp_at))) {
		row.cfa = UNWIND_CFA(UNWIND_CFA_RBP, -rbp.offset);
	} else if (by_rsp) {
		row.cfa = UNWIND_CFA(UNWIND_CFA_RSP, -rsp.offset);
	} else if (!row_by_slot(frame, &row)) {
		row.cfa = UNWIND_CFA_COMMAND(UNWIND_UNKNOWN);
		row.rbp = UNWIND_RBP_KEPT;
	}
	return row;
}

bool frame_state_can_return(const struct frame_state *frame)
{
	struct frame_value rsp = frame->registers[FRAME_RSP];

	return frame_value_equal(rsp, FRAME_RETURN_SLOT) &&
	       frame_value_equal(frame->return_at, FRAME_RETURN_SLOT) &&
	       frame->registers[FRAME_RBP].base == FRAME_CALLER_RBP;
}
