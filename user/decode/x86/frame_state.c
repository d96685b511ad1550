/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/frame_state.h"

#include <string.h>

/* Larger than any stack: greater distances are not stack addresses. */
#define DISTANCE_MAX (1 << 28)

/* Registers that a callee may change: rax, rcx, rdx, rsi, rdi, r8 to r11. */
#define CALL_CLOBBERED 0x0fc7u

static const struct frame_value nothing;

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
	ret->return_at = FRAME_RETURN_SLOT;
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

/* Change a value to be relative to another CFA, in front of which the return address is now. */
static struct frame_value relative_to(struct frame_value value, struct frame_value return_at)
{
	if (!frame_value_is_address(value) || value.base != return_at.base)
		return kind_of(value) == FRAME_CFA ? nothing : value;
	return frame_value_add(FRAME_RETURN_SLOT, (int64_t)value.offset - return_at.offset);
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
	frame->return_at = FRAME_RETURN_SLOT;
}

/* Returns true if a word shares bytes with a place of size_bytes. */
static bool overlaps(struct frame_value word, struct frame_value place, uint32_t size_bytes)
{
	return word.base == place.base && word.offset > place.offset - 8 &&
	       word.offset < place.offset + (int32_t)size_bytes;
}

/*
 * The return address is overwritten. Before that, a tail call with more arguments on the stack has
 * stored it elsewhere.
 */
static void lose_return(struct frame_state *frame)
{
	frame->return_at = nothing;
	for (uint32_t i = 0; i < FRAME_SLOTS; i++) {
		if (frame->slots[i].value.base == FRAME_RETURN &&
		    frame->registers[FRAME_RBP].base == FRAME_CALLER_RBP) {
			begin_frame(frame, frame->slots[i].place);
			return;
		}
	}
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
		lose_return(frame);
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
	bool at_return;

	if (!frame_value_is_address(place))
		return;
	if (value.base == FRAME_CALLER_RBP) {
		/* The first slot is the one from which rbp is restored. */
		if (frame->rbp_at.base == FRAME_NOTHING)
			frame->rbp_at = place;
	} else if (frame_value_equal(place, frame->rbp_at)) {
		frame->rbp_at = nothing;
	}
	at_return = overlaps(frame->return_at, place, 8);
	frame_state_overwrite(frame, place, 8);
	if (!at_return && (frame_value_is_address(value) || value.base == FRAME_RETURN))
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

void frame_state_push(struct frame_state *frame, struct frame_value value, uint32_t size_bytes)
{
	struct frame_value rsp = frame_value_add(frame->registers[FRAME_RSP], -(int64_t)size_bytes);
	/* Code that was entered with code_entry_pushed. */
	bool pushes_return = frame_value_equal(rsp, FRAME_RETURN_SLOT) && size_bytes == 8 &&
			     frame_value_equal(frame->return_at, FRAME_RETURN_SLOT);

	if (size_bytes == 8)
		frame_state_store(frame, rsp, value);
	else
		frame_state_overwrite(frame, rsp, size_bytes);
	set_rsp(frame, rsp);
	if (pushes_return)
		frame->return_at = FRAME_RETURN_SLOT;
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
