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
static const struct frame_value return_slot = {FRAME_CFA, -8};

static enum frame_base kind_of(struct frame_value value)
{
	return (enum frame_base)(value.base & FRAME_BASE_MASK);
}

bool frame_value_is_address(struct frame_value value)
{
	return kind_of(value) == FRAME_CFA || kind_of(value) >= FRAME_ALIGNED;
}

bool frame_value_equal(struct frame_value a, struct frame_value b)
{
	return a.base == b.base && a.offset == b.offset;
}

struct frame_value frame_value_add(struct frame_value value, int64_t distance)
{
	int64_t offset;

	if (!frame_value_is_address(value) || distance < -DISTANCE_MAX || distance > DISTANCE_MAX)
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
	ret->return_at = return_slot;
}

static void remove_slot(struct frame_state *frame, uint32_t number)
{
	memmove(&frame->slots[number], &frame->slots[number + 1],
		(FRAME_SLOTS - 1 - number) * sizeof(frame->slots[0]));
	frame->slots[FRAME_SLOTS - 1] = (struct frame_slot){0};
}

/*
 * Returns true if a place is below rsp, which was `before` until now. Memory below rsp can be
 * overwritten at any time. When rsp returns to an earlier base, all places of the base that it
 * leaves are below.
 */
static bool is_below(struct frame_value place, struct frame_value before, struct frame_value rsp)
{
	if (place.base == rsp.base)
		return place.offset < rsp.offset;
	return kind_of(place) != FRAME_CFA &&
	       (place.base == before.base || kind_of(rsp) == FRAME_CFA);
}

static void set_rsp(struct frame_state *frame, struct frame_value value)
{
	struct frame_value before = frame->registers[FRAME_RSP];

	frame->registers[FRAME_RSP] = value;
	/* A lower rsp keeps slots below it: leaf functions store into the red zone. */
	if (value.base == FRAME_NOTHING ||
	    (before.base == value.base && value.offset <= before.offset))
		return;
	if (frame->rbp_at.base == value.base && frame->rbp_at.offset < value.offset)
		frame->rbp_at = nothing;
	if (frame->return_at.base == value.base && frame->return_at.offset < value.offset)
		frame->return_at = nothing;
	for (uint32_t i = FRAME_SLOTS; i--;) {
		if (is_below(frame->slots[i].place, before, value))
			remove_slot(frame, i);
	}
}

void frame_state_set(struct frame_state *frame, uint32_t reg, struct frame_value value)
{
	if (reg == FRAME_RSP)
		set_rsp(frame, frame_value_is_address(value) ? value : nothing);
	else
		frame->registers[reg] = value;
}

static void forget_base(struct frame_state *frame, uint32_t base)
{
	for (uint32_t i = 0; i < FRAME_REGISTERS; i++) {
		if (frame->registers[i].base == base)
			frame->registers[i] = nothing;
	}
	if (frame->rbp_at.base == base)
		frame->rbp_at = nothing;
	for (uint32_t i = FRAME_SLOTS; i--;) {
		if (frame->slots[i].place.base == base || frame->slots[i].value.base == base)
			remove_slot(frame, i);
	}
}

void frame_state_rebase(struct frame_state *frame, uint32_t reg, uint32_t base)
{
	forget_base(frame, base);
	frame->registers[reg] = (struct frame_value){base, 0};
}

/* Returns true if a word shares bytes with a place of size_bytes. */
static bool overlaps(struct frame_value word, struct frame_value place, uint32_t size_bytes)
{
	return word.base == place.base && word.offset > place.offset - 8 &&
	       word.offset < place.offset + (int32_t)size_bytes;
}

void frame_state_overwrite(struct frame_state *frame, struct frame_value place, uint32_t size_bytes)
{
	if (!frame_value_is_address(place))
		return;
	for (uint32_t i = FRAME_SLOTS; i--;) {
		if (overlaps(frame->slots[i].place, place, size_bytes))
			remove_slot(frame, i);
	}
	if (overlaps(frame->return_at, place, size_bytes))
		frame->return_at = nothing;
}

static bool is_before(struct frame_value a, struct frame_value b)
{
	return a.base < b.base || (a.base == b.base && a.offset < b.offset);
}

/*
 * Add a slot, unless there is no room. If an address relative to the CFA is stored in the CFA's
 * frame, it is added only if it is the value of rsp, since rsp may be restored from it. Other such
 * addresses are those of variables, and compilers store many of them.
 */
static void add_slot(struct frame_state *frame, struct frame_value place, struct frame_value value)
{
	uint32_t i = 0;

	if (frame->slots[FRAME_SLOTS - 1].place.base ||
	    (place.base == FRAME_CFA && value.base == FRAME_CFA &&
	     !frame_value_equal(value, frame->registers[FRAME_RSP])))
		return;
	while (frame->slots[i].place.base && is_before(frame->slots[i].place, place))
		i++;
	memmove(&frame->slots[i + 1], &frame->slots[i],
		(FRAME_SLOTS - 1 - i) * sizeof(frame->slots[0]));
	frame->slots[i] = (struct frame_slot){place, value};
}

void frame_state_store(struct frame_state *frame, struct frame_value place,
		       struct frame_value value)
{
	if (!frame_value_is_address(place))
		return;
	if (value.base == FRAME_CALLER_RBP) {
		/* The first slot is the one from which rbp is restored. */
		if (frame->rbp_at.base == FRAME_NOTHING)
			frame->rbp_at = place;
	} else if (frame_value_equal(place, frame->rbp_at)) {
		frame->rbp_at = nothing;
	}
	frame_state_overwrite(frame, place, 8);
	if (frame_value_is_address(value))
		add_slot(frame, place, value);
}

struct frame_value frame_state_load(const struct frame_state *frame, struct frame_value place)
{
	if (!frame_value_is_address(place))
		return nothing;
	if (frame_value_equal(place, frame->rbp_at))
		return (struct frame_value){FRAME_CALLER_RBP, 0};
	if (frame_value_equal(place, frame->return_at))
		return (struct frame_value){FRAME_RETURN, 0};
	for (uint32_t i = 0; i < FRAME_SLOTS; i++) {
		if (frame_value_equal(place, frame->slots[i].place))
			return frame->slots[i].value;
	}
	return nothing;
}

/* Change a value to be relative to another CFA, in front of which the return address is now. */
static struct frame_value relative_to(struct frame_value value, struct frame_value return_at)
{
	if (!frame_value_is_address(value) || value.base != return_at.base)
		return kind_of(value) == FRAME_CFA ? nothing : value;
	return frame_value_add(return_slot, (int64_t)value.offset - return_at.offset);
}

/* The return address was stored at a place. */
static void begin_frame(struct frame_state *frame, struct frame_value return_at)
{
	if (!frame_value_is_address(return_at))
		return;
	for (uint32_t i = 0; i < FRAME_REGISTERS; i++)
		frame->registers[i] = relative_to(frame->registers[i], return_at);
	memset(frame->slots, 0, sizeof(frame->slots));
	frame->registers[FRAME_RBP] = (struct frame_value){FRAME_CALLER_RBP, 0};
	frame->rbp_at = nothing;
	frame->return_at = return_slot;
}

void frame_state_push(struct frame_state *frame, struct frame_value value, uint32_t size_bytes)
{
	struct frame_value rsp = frame_value_add(frame->registers[FRAME_RSP], -(int64_t)size_bytes);
	/* Code that was entered with code_entry_pushed. */
	bool pushes_return = frame_value_equal(rsp, return_slot) && size_bytes == 8 &&
			     frame_value_equal(frame->return_at, return_slot);

	if (size_bytes == 8)
		frame_state_store(frame, rsp, value);
	else
		frame_state_overwrite(frame, rsp, size_bytes);
	set_rsp(frame, rsp);
	if (pushes_return)
		frame->return_at = return_slot;
	else if (value.base == FRAME_RETURN && frame->return_at.base == FRAME_NOTHING)
		begin_frame(frame, rsp);
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

static bool has_slot(const struct frame_state *frame, const struct frame_slot *slot)
{
	for (uint32_t i = 0; i < FRAME_SLOTS; i++) {
		if (!memcmp(&frame->slots[i], slot, sizeof(*slot)))
			return true;
	}
	return false;
}

void frame_state_meet(const struct frame_state *there, const struct frame_state *arriving,
		      uint64_t address, struct frame_state *ret)
{
	struct frame_state met = *there, other = *arriving;
	struct frame_value joined = {frame_base_at(FRAME_JOINED, address), 0};

	if (!frame_value_equal(met.registers[FRAME_RSP], other.registers[FRAME_RSP])) {
		frame_state_rebase(&other, FRAME_RSP, joined.base);
		if (!frame_value_equal(met.registers[FRAME_RSP], joined))
			frame_state_rebase(&met, FRAME_RSP, joined.base);
	}
	for (uint32_t i = 0; i < FRAME_REGISTERS; i++)
		meet(&met.registers[i], other.registers[i]);
	meet(&met.rbp_at, other.rbp_at);
	meet(&met.return_at, other.return_at);
	for (uint32_t i = FRAME_SLOTS; i--;) {
		if (!has_slot(&other, &met.slots[i]))
			remove_slot(&met, i);
	}
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

	if (!frame_value_equal(frame->return_at, return_slot)) {
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

	return frame_value_equal(rsp, return_slot) &&
	       frame_value_equal(frame->return_at, return_slot) &&
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
	entry.watch_all = entry.watched & IMPLICIT;
	entry.has_slots = frame->slots[0].place.base != FRAME_NOTHING;
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
