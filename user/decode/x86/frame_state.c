/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/frame_state.h"

#include <string.h>

#include "base/hash.h"

/* Larger than any stack: greater distances are not stack addresses. */
#define DISTANCE_MAX (1 << 28)

/* Registers that a callee may change: rax, rcx, rdx, rsi, rdi, r8 to r11. */
#define CALL_CLOBBERED 0x0fc7u

/* Registers that instructions can write without naming them: rax rcx rdx rbx rsi rdi r11. */
#define IMPLICIT 0x08cfu

static const struct frame_value nothing;

static bool is_address(struct frame_value value)
{
	return value.base == FRAME_CFA || value.base == FRAME_ALIGNED;
}

bool frame_value_equal(struct frame_value a, struct frame_value b)
{
	return a.base == b.base && a.offset == b.offset;
}

struct frame_value frame_value_add(struct frame_value value, int64_t distance)
{
	int64_t offset;

	if (!is_address(value) || distance < -DISTANCE_MAX || distance > DISTANCE_MAX)
		return nothing;
	offset = value.offset + distance;
	if (offset < -DISTANCE_MAX || offset > DISTANCE_MAX)
		return nothing;
	value.offset = (int32_t)offset;
	return value;
}

void frame_state_init(struct frame_state *ret, const struct code_entry *entry)
{
	struct frame_value cfa = {FRAME_CFA, 0};
	int32_t offset = entry->cfa & ~UNWIND_RULE_MASK;

	*ret = (struct frame_state){0};
	if (entry->rbp == UNWIND_RBP_KEPT)
		ret->registers[FRAME_RBP] = (struct frame_value){FRAME_CALLER_RBP, 0};
	else
		ret->rbp_at = frame_value_add(cfa, 8 * entry->rbp);
	if ((entry->cfa & UNWIND_RULE_MASK) == UNWIND_CFA_RSP)
		ret->registers[FRAME_RSP] = frame_value_add(cfa, -(int64_t)offset);
	else if ((entry->cfa & UNWIND_RULE_MASK) == UNWIND_CFA_RBP)
		ret->registers[FRAME_RBP] = frame_value_add(cfa, -(int64_t)offset);
}

/* Memory below rsp can be overwritten at any time. */
static void drop_below(struct frame_value *place, struct frame_value rsp)
{
	if (place->base == rsp.base && place->offset < rsp.offset)
		*place = nothing;
}

static void set_rsp(struct frame_state *frame, struct frame_value value)
{
	struct frame_value before = frame->registers[FRAME_RSP];

	frame->registers[FRAME_RSP] = value;
	/* A lower rsp keeps slots below it: leaf functions store into the red zone. */
	if (before.base == value.base && value.offset <= before.offset)
		return;
	drop_below(&frame->rbp_at, value);
	drop_below(&frame->cfa_at, value);
}

void frame_state_set(struct frame_state *frame, uint32_t reg, struct frame_value value)
{
	if (reg == FRAME_RSP)
		set_rsp(frame, is_address(value) ? value : nothing);
	else
		frame->registers[reg] = value;
}

void frame_state_store(struct frame_state *frame, struct frame_value place,
		       struct frame_value value)
{
	if (!is_address(place))
		return;
	if (value.base == FRAME_CALLER_RBP) {
		/* The first slot is the one from which rbp is restored. */
		if (frame->rbp_at.base == FRAME_NOTHING)
			frame->rbp_at = place;
	} else if (frame_value_equal(place, frame->rbp_at)) {
		frame->rbp_at = nothing;
	}
	if (place.base == FRAME_ALIGNED && value.base == FRAME_CFA && !value.offset)
		frame->cfa_at = place;
	else if (frame_value_equal(place, frame->cfa_at))
		frame->cfa_at = nothing;
}

struct frame_value frame_state_load(const struct frame_state *frame, struct frame_value place)
{
	if (!is_address(place))
		return nothing;
	if (frame_value_equal(place, frame->rbp_at))
		return (struct frame_value){FRAME_CALLER_RBP, 0};
	if (frame_value_equal(place, frame->cfa_at))
		return (struct frame_value){FRAME_CFA, 0};
	return nothing;
}

void frame_state_push(struct frame_state *frame, struct frame_value value, uint32_t size_bytes)
{
	struct frame_value rsp = frame_value_add(frame->registers[FRAME_RSP], -(int64_t)size_bytes);

	set_rsp(frame, rsp);
	frame_state_store(frame, rsp, size_bytes == 8 ? value : nothing);
}

struct frame_value frame_state_pop(struct frame_state *frame, uint32_t size_bytes)
{
	struct frame_value rsp = frame->registers[FRAME_RSP];
	struct frame_value value = size_bytes == 8 ? frame_state_load(frame, rsp) : nothing;

	set_rsp(frame, frame_value_add(rsp, size_bytes));
	return value;
}

void frame_state_called(struct frame_state *frame)
{
	for (uint32_t i = 0; i < FRAME_REGISTERS; i++) {
		if (CALL_CLOBBERED & 1u << i)
			frame->registers[i] = nothing;
	}
}

static void meet(struct frame_value *value, struct frame_value other)
{
	if (!frame_value_equal(*value, other))
		*value = nothing;
}

void frame_state_meet(const struct frame_state *a, const struct frame_state *b,
		      struct frame_state *ret)
{
	struct frame_state met = *a;

	for (uint32_t i = 0; i < FRAME_REGISTERS; i++)
		meet(&met.registers[i], b->registers[i]);
	meet(&met.rbp_at, b->rbp_at);
	meet(&met.cfa_at, b->cfa_at);
	*ret = met;
}

/* Returns the slot of the caller's rbp relative to base, in words; UNWIND_RBP_KEPT if unknown. */
static int16_t rbp_place(const struct frame_state *frame, struct frame_value base)
{
	int32_t words = (frame->rbp_at.offset - base.offset) / 8;

	if (frame->rbp_at.base != base.base || frame->rbp_at.offset % 8 || words < INT16_MIN ||
	    words >= UNWIND_RBP_KEPT)
		return UNWIND_RBP_KEPT;
	return (int16_t)words;
}

struct unwind_row frame_state_row(const struct frame_state *frame)
{
	struct frame_value rsp = frame->registers[FRAME_RSP], rbp = frame->registers[FRAME_RBP];
	struct frame_value cfa = {FRAME_CFA, 0};
	struct unwind_row row = {.rbp = rbp_place(frame, cfa)};

	/* Prefer rbp if it points to the saved rbp (a frame pointer); otherwise prefer rsp. */
	bool by_rbp = rbp.base == FRAME_CFA && rbp.offset % 8 == 0;
	bool by_rsp = rsp.base == FRAME_CFA && rsp.offset % 8 == 0 && rsp.offset <= -8;

	if (by_rbp && (!by_rsp || frame_value_equal(rbp, frame->rbp_at))) {
		row.cfa = UNWIND_CFA(UNWIND_CFA_RBP, -rbp.offset);
	} else if (by_rsp) {
		row.cfa = UNWIND_CFA(UNWIND_CFA_RSP, -rsp.offset);
	} else if (rbp.base == FRAME_ALIGNED && frame->cfa_at.base == FRAME_ALIGNED &&
		   (frame->cfa_at.offset - rbp.offset) % 8 == 0) {
		row.cfa = UNWIND_CFA(UNWIND_CFA_SAVED, frame->cfa_at.offset - rbp.offset);
		row.rbp = rbp_place(frame, rbp);
	} else {
		row.cfa = UNWIND_CFA_COMMAND(UNWIND_UNKNOWN);
		row.rbp = UNWIND_RBP_KEPT;
	}
	return row;
}

bool frame_state_can_return(const struct frame_state *frame)
{
	struct frame_value rsp = frame->registers[FRAME_RSP];

	return rsp.base == FRAME_CFA && rsp.offset == -8 &&
	       frame->registers[FRAME_RBP].base == FRAME_CALLER_RBP;
}

static bool frame_equal(const void *items, uint32_t item, const void *key)
{
	const struct frame_state_entry *entries = items;

	return !memcmp(&entries[item].frame, key, sizeof(struct frame_state));
}

static struct frame_state_entry entry_of(const struct frame_state *frame)
{
	struct frame_state_entry entry = {
		.frame = *frame,
		.row = frame_state_row(frame),
		.watched = 1u << FRAME_RSP | 1u << FRAME_RBP,
	};

	for (uint32_t i = 0; i < FRAME_REGISTERS; i++) {
		if (frame->registers[i].base != FRAME_NOTHING)
			entry.watched |= 1u << i;
	}
	/* With a saved CFA, any register may be loaded with a known value. */
	entry.watch_all = entry.watched & IMPLICIT || frame->cfa_at.base != FRAME_NOTHING;
	return entry;
}

int frame_states_add(struct frame_states *frames, const struct frame_state *frame, uint16_t *ret)
{
	uint64_t hash = hash_bytes(frame, sizeof(*frame), 0);
	uint32_t number =
		index_map_find(&frames->index, hash, frame_equal, frames->entries.data, frame);

	if (number == INDEX_MAP_NONE && frames->entries.size >= FRAME_STATES_MAX)
		number = FRAME_STATE_UNKNOWN;
	if (number == INDEX_MAP_NONE) {
		number = (uint32_t)frames->entries.size;
		if (vec_push(&frames->entries, entry_of(frame)) ||
		    index_map_insert(&frames->index, hash, number))
			return -ENOMEM;
	}
	*ret = (uint16_t)number;
	return 0;
}

int frame_states_init(struct frame_states *ret)
{
	struct frame_states frames = {0};
	struct frame_state unknown = {0};
	uint16_t number;
	int err = vec_push(&frames.entries, (struct frame_state_entry){0});

	err = err ?: frame_states_add(&frames, &unknown, &number);
	if (err) {
		frame_states_deinit(&frames);
		return err;
	}
	*ret = frames;
	return 0;
}

void frame_states_deinit(struct frame_states *frames)
{
	vec_deinit(&frames->entries);
	index_map_deinit(&frames->index);
}
