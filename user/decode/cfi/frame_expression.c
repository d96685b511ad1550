/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/cfi/frame_expression.h"

#include "decode/dwarf/dwarf_constants.h"
#include "decode/dwarf/dwarf_data.h"

uint64_t frame_register_role(bool narrow, uint64_t number)
{
	if (!narrow)
		return number;
	switch (number) {
	case DWARF_REGISTER_EBP:
		return DWARF_REGISTER_RBP;
	case DWARF_REGISTER_ESP:
		return DWARF_REGISTER_RSP;
	case DWARF_REGISTER_EIP:
		return DWARF_REGISTER_RA;
	default:
		return FRAME_BASE_OTHER;
	}
}

/* Returns whether an expression is that of a PLT: rsp + 8 + ((rip & 15) >= 11) * 8. */
static bool is_plt(const struct cursor *c, bool narrow)
{
	static const uint8_t plt[] = {
		DWARF_OP_BREG0 + DWARF_REGISTER_RSP,
		8,
		DWARF_OP_BREG0 + DWARF_REGISTER_RA,
		0,
		DWARF_OP_LIT0 + 15,
		DWARF_OP_AND,
		DWARF_OP_LIT0 + 11,
		DWARF_OP_GE,
		DWARF_OP_LIT0 + 3,
		DWARF_OP_SHL,
		DWARF_OP_PLUS,
	};
	static const uint8_t narrow_plt[] = {
		DWARF_OP_BREG0 + DWARF_REGISTER_ESP,
		4,
		DWARF_OP_BREG0 + DWARF_REGISTER_EIP,
		0,
		DWARF_OP_LIT0 + 15,
		DWARF_OP_AND,
		DWARF_OP_LIT0 + 11,
		DWARF_OP_GE,
		DWARF_OP_LIT0 + 2,
		DWARF_OP_SHL,
		DWARF_OP_PLUS,
	};

	_Static_assert(sizeof(plt) == sizeof(narrow_plt), "one size");
	return cursor_left(c) == sizeof(plt) &&
	       !memcmp(c->at, narrow ? narrow_plt : plt, sizeof(plt));
}

struct frame_place frame_expression_place(struct cursor c, bool narrow)
{
	static const uint8_t plus_8[] = {DWARF_OP_DEREF, DWARF_OP_PLUS_UCONST, 8};
	struct frame_place place = {.kind = FRAME_OTHER};
	uint8_t operation;
	uint64_t base;
	int64_t offset;

	if (is_plt(&c, narrow))
		return (struct frame_place){.kind = FRAME_PLT};
	if (dwarf_read_u8(&c, &operation) || operation < DWARF_OP_BREG0 ||
	    operation > DWARF_OP_BREG0 + 31 || dwarf_read_sleb(&c, &offset))
		return place;
	base = frame_register_role(narrow, operation - DWARF_OP_BREG0);
	if (!cursor_left(&c))
		return frame_place_at(FRAME_VALUE, base, offset);
	if (cursor_left(&c) == 1 && *c.at == DWARF_OP_DEREF)
		return frame_place_at(FRAME_MEMORY, base, offset);
	if (cursor_left(&c) == sizeof(plus_8) && !memcmp(c.at, plus_8, sizeof(plus_8)))
		return frame_place_at(FRAME_SAVED_RSP, base, offset);
	return place;
}
