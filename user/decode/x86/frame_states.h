/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Distinct frame states, known by number. */
#ifndef JITBPF_DECODE_X86_FRAME_STATES_H
#define JITBPF_DECODE_X86_FRAME_STATES_H

#include "base/index_map.h"
#include "base/vec.h"
#include "decode/x86/frame_state.h"

struct frame_states {
	VEC(struct frame_state_entry) entries; /* entry 0 is unused */
	struct index_map index;
};

struct frame_state_entry {
	struct frame_state frame;
	struct unwind_row row;
	uint32_t watched; /* registers with a known value, and always rsp and rbp */
	bool watch_all; /* the state may change by an instruction that names no watched register */
	bool has_slots; /* the state may change by a store */
};

#define FRAME_STATES_MAX 0x4000

/* Number of the state with nothing known. frame_states_init() returns 0 or -ENOMEM. */
#define FRAME_STATE_UNKNOWN 1
int frame_states_init(struct frame_states *ret);
void frame_states_deinit(struct frame_states *frames);

/*
 * Find or add a state and set *ret to its number; a new state beyond
 * FRAME_STATES_MAX becomes FRAME_STATE_UNKNOWN. Invalidates pointers to
 * entries. Returns 0 or -ENOMEM.
 */
int frame_states_add(struct frame_states *frames, const struct frame_state *frame, uint16_t *ret);

static inline const struct frame_state_entry *frame_states_get(const struct frame_states *frames,
							       uint16_t number)
{
	return &frames->entries.data[number];
}

/* Returns true if two frames have the same row. */
static inline bool frame_states_same_row(const struct frame_states *frames, uint16_t a, uint16_t b)
{
	struct unwind_row a_row = frame_states_get(frames, a)->row;
	struct unwind_row b_row = frame_states_get(frames, b)->row;

	return a_row.cfa == b_row.cfa && a_row.rbp == b_row.rbp;
}

#endif
