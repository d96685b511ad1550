/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Call frame programs, instruction by instruction, and the rows they produce. */
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/scope.h"
#include "decode/cfi/frame_program.h"
#include "decode/dwarf/dwarf_constants.h"
#include "tests/unit/cases.h"

#define START 0x1000
#define END   0x1200

#define RBP DWARF_REGISTER_RBP
#define RSP DWARF_REGISTER_RSP
#define RA  DWARF_REGISTER_RA
#define R10 10

#define BREG(n) (DWARF_OP_BREG0 + (n))
#define LIT(n)	(DWARF_OP_LIT0 + (n))

#define ADVANCE(delta)	(DWARF_CFA_ADVANCE_LOC | (delta))
#define OFFSET(number)	(DWARF_CFA_OFFSET | (number))
#define RESTORE(number) (DWARF_CFA_RESTORE | (number))

static const struct frame_rules called = {
	.cfa = {.kind = FRAME_VALUE, .base = RSP, .offset = 8},
	.ra = {.kind = FRAME_MEMORY, .base = FRAME_BASE_CFA, .offset = -8},
};

static struct frame_program program_of(const uint8_t *code, size_t size_bytes)
{
	return (struct frame_program){
		.code = cursor_of(code, size_bytes),
		.code_address = 0x5000,
		.code_factor = 1,
		.data_factor = -8,
		.pointer_encoding = DWARF_EH_PE_PCREL | DWARF_EH_PE_SDATA4,
	};
}

static void row_text(const struct unwind_wide_row *row, char *ret, size_t size_bytes)
{
	static const char *const rules[] = {"rsp%+d", "rbp%+d", "*rbp%+d", "*rsp%+d%+d"};
	static const char *const commands[] = {"not-made", "unknown", "root",
					       "plt",	   "signal",  "frame-pointer"};
	int rule = row->cfa & UNWIND_RULE_MASK, offset = row->cfa & ~UNWIND_RULE_MASK;
	bool by_slot = rule == UNWIND_CFA_SAVED_RSP;
	int length = snprintf(ret, size_bytes, "%x:", row->offset);

	if (rule == UNWIND_COMMAND)
		length += snprintf(ret + length, size_bytes - length, "%s", commands[offset / 8]);
	else
		length += snprintf(ret + length, size_bytes - length, rules[rule],
				   by_slot ? UNWIND_SLOT(row->cfa) : offset,
				   UNWIND_SLOT_DISTANCE(row->cfa));
	if (row->rbp != UNWIND_RBP_KEPT)
		snprintf(ret + length, size_bytes - length, ",%d", row->rbp);
}

static void assert_rows(const struct unwind_rows *rows, const char *expected)
{
	char text[512] = "";

	vec_for_each (row, &rows->rows) {
		size_t length = strlen(text);

		if (length)
			text[length++] = ' ';
		row_text(row, text + length, sizeof(text) - length);
	}
	assert_string_equal(text, expected);
}

static void assert_program(const struct frame_program *program, uint64_t from, uint64_t to,
			   const char *expected)
{
	CLEANUP(unwind_rows_deinit) struct unwind_rows rows = {0};
	struct frame_window window = {.start = from, .end = to, .rows = &rows};

	assert_int_equal(frame_program_run(program, &called, START, &window), 0);
	assert_rows(&rows, expected);
}

/* Compare rows, by offset from START: CFA, and slot of rbp from the CFA in words. */
#define assert_says(expected, ...)                                                                 \
	do {                                                                                       \
		const uint8_t code_[] = {__VA_ARGS__};                                             \
		struct frame_program program_ = program_of(code_, sizeof(code_));                  \
		assert_program(&program_, START, END, expected);                                   \
	} while (0)

CASE(test_nothing)
{
	struct frame_program program = program_of(NULL, 0);

	assert_program(&program, START, END, "0:rsp+8");
	assert_says("0:rsp+8", DWARF_CFA_NOP, DWARF_CFA_NOP);
}

CASE(test_locations)
{
	assert_says("0:rsp+8 3f:rsp+16", ADVANCE(63), DWARF_CFA_DEF_CFA_OFFSET, 16);
	assert_says("0:rsp+8 c8:rsp+16", DWARF_CFA_ADVANCE_LOC1, 200, DWARF_CFA_DEF_CFA_OFFSET, 16);
	assert_says("0:rsp+8 101:rsp+16", DWARF_CFA_ADVANCE_LOC2, 1, 1, DWARF_CFA_DEF_CFA_OFFSET,
		    16);
	assert_says("0:rsp+8 101:rsp+16", DWARF_CFA_ADVANCE_LOC4, 1, 1, 0, 0,
		    DWARF_CFA_DEF_CFA_OFFSET, 16);
	/* A pc-relative location: from 0x5001 to 0x1080. */
	assert_says("0:rsp+8 80:rsp+16", DWARF_CFA_SET_LOC, 0x7f, 0xc0, 0xff, 0xff,
		    DWARF_CFA_DEF_CFA_OFFSET, 16);
	/* Several rules at one location: the last one counts. */
	assert_says("0:rsp+8 4:rsp+24", ADVANCE(4), DWARF_CFA_DEF_CFA_OFFSET, 16, ADVANCE(0),
		    DWARF_CFA_DEF_CFA_OFFSET, 24);
	/* Beyond the end of the window. */
	assert_says("0:rsp+8", DWARF_CFA_ADVANCE_LOC2, 0, 2, DWARF_CFA_DEF_CFA_OFFSET, 16);
}

CASE(test_factors)
{
	const uint8_t code[] = {ADVANCE(4), DWARF_CFA_DEF_CFA_OFFSET_SF, 2, OFFSET(RBP), 1};
	struct frame_program program = program_of(code, sizeof(code));

	program.code_factor = 16;
	program.data_factor = 8;
	assert_program(&program, START, END, "0:rsp+8 40:rsp+16,1");
	program.code_factor = UINT64_MAX;
	assert_program(&program, START, END, "0:unknown");
}

CASE(test_cfa)
{
	assert_says("0:rbp+16", DWARF_CFA_DEF_CFA, RBP, 16);
	assert_says("0:rbp+24", DWARF_CFA_DEF_CFA_SF, RBP, 0x7d /* -3 */);
	assert_says("0:rbp+8", DWARF_CFA_DEF_CFA_REGISTER, RBP);
	assert_says("0:rsp+4096", DWARF_CFA_DEF_CFA_OFFSET, 0x80, 0x20);
	assert_says("0:rsp-8", DWARF_CFA_DEF_CFA_OFFSET_SF, 1);
	assert_says("0:rbp-16", DWARF_CFA_DEF_CFA_EXPRESSION, 2, BREG(RBP), 0x70);
	assert_says("0:*rbp-16", DWARF_CFA_DEF_CFA_EXPRESSION, 3, BREG(RBP), 0x70, DWARF_OP_DEREF);
	/* Registers that are not tracked; the offset is kept. */
	assert_says("0:unknown 1:rbp+8", DWARF_CFA_DEF_CFA_REGISTER, R10, ADVANCE(1),
		    DWARF_CFA_DEF_CFA_REGISTER, RBP);
	assert_says("0:unknown", DWARF_CFA_DEF_CFA, 0x86, 2 /* 262, which is 6 modulo 256 */, 8);
	/* Values that a row cannot hold. */
	assert_says("0:unknown", DWARF_CFA_DEF_CFA_OFFSET, 12);
	assert_says("0:unknown", DWARF_CFA_DEF_CFA_OFFSET, 0x88, 0x80, 0x80, 0x80, 4);
	assert_says("0:rsp+1073741824", DWARF_CFA_DEF_CFA_OFFSET, 0x80, 0x80, 0x80, 0x80, 4);
}

CASE(test_rbp)
{
	assert_says("0:rsp+8,-2", OFFSET(RBP), 2);
	assert_says("0:rsp+8,-2", DWARF_CFA_OFFSET_EXTENDED, RBP, 2);
	assert_says("0:rsp+8,2", DWARF_CFA_OFFSET_EXTENDED_SF, RBP, 0x7e);
	assert_says("0:rsp+8,2", DWARF_CFA_GNU_NEGATIVE_OFFSET_EXTENDED, RBP, 2);
	assert_says("0:rsp+8,-2 1:rsp+8", OFFSET(RBP), 2, ADVANCE(1), DWARF_CFA_SAME_VALUE, RBP);
	assert_says("0:rsp+8,-2 1:rsp+8", OFFSET(RBP), 2, ADVANCE(1), RESTORE(RBP));
	assert_says("0:rsp+8,-2 1:rsp+8", OFFSET(RBP), 2, ADVANCE(1), DWARF_CFA_RESTORE_EXTENDED,
		    RBP);
	assert_says("0:unknown", DWARF_CFA_UNDEFINED, RBP);
	assert_says("0:unknown", DWARF_CFA_REGISTER, RBP, 3);
	assert_says("0:unknown", DWARF_CFA_VAL_OFFSET, RBP, 2);
	assert_says("0:unknown", DWARF_CFA_VAL_OFFSET_SF, RBP, 2);
	assert_says("0:unknown", DWARF_CFA_VAL_EXPRESSION, RBP, 2, BREG(RBP), 0);
	/*
	 * The last slot that a row can hold, and one beyond it; offsets that
	 * are no multiple of 8.
	 */
	assert_says("0:rsp+8,-32768", OFFSET(RBP), 0x80, 0x80, 2);
	assert_says("0:unknown", OFFSET(RBP), 0x81, 0x80, 2);
	assert_says("0:rsp+8,32766", DWARF_CFA_OFFSET_EXTENDED_SF, RBP, 0x82, 0x80, 0x7e);
	assert_says("0:unknown", DWARF_CFA_OFFSET_EXTENDED_SF, RBP, 0x81, 0x80, 0x7e);
	assert_says("0:unknown", DWARF_CFA_EXPRESSION, RBP, 2, BREG(RSP), 4);
}

CASE(test_rbp_by_expression)
{
	/* Relative to the CFA's register. */
	assert_says("0:rsp+8,-3", DWARF_CFA_EXPRESSION, RBP, 2, BREG(RSP), 0x70);
	assert_says("0:rbp+16,-2", DWARF_CFA_DEF_CFA, RBP, 16, DWARF_CFA_EXPRESSION, RBP, 2,
		    BREG(RBP), 0);
	assert_says("0:unknown", DWARF_CFA_EXPRESSION, RBP, 2, BREG(RBP), 0);
	assert_says("0:unknown", DWARF_CFA_EXPRESSION, RBP, 3, BREG(RSP), 0, DWARF_OP_DEREF);
	/* DW_CFA_val_expression with the value at an address. */
	assert_says("0:rsp+8,-1", DWARF_CFA_VAL_EXPRESSION, RBP, 3, BREG(RSP), 0, DWARF_OP_DEREF);
}

/* A function that realigns its stack: the CFA is in r10, then in memory. */
CASE(test_realigned)
{
	assert_says("0:rsp+8 5:unknown 10:*rbp-8,0 40:unknown 42:rsp+8", ADVANCE(5),
		    DWARF_CFA_DEF_CFA, R10, 0, ADVANCE(9), DWARF_CFA_EXPRESSION, RBP, 2, BREG(RBP),
		    0, ADVANCE(2), DWARF_CFA_DEF_CFA_EXPRESSION, 3, BREG(RBP), 0x78, DWARF_OP_DEREF,
		    ADVANCE(48), DWARF_CFA_DEF_CFA, R10, 0, ADVANCE(2), RESTORE(RBP),
		    DWARF_CFA_DEF_CFA, RSP, 8);
	/* With the CFA in memory, a slot relative to the CFA cannot be expressed. */
	assert_says("0:unknown", OFFSET(RBP), 2, DWARF_CFA_DEF_CFA_EXPRESSION, 3, BREG(RBP), 0x78,
		    DWARF_OP_DEREF);
	assert_says("0:unknown", DWARF_CFA_DEF_CFA_EXPRESSION, 3, BREG(RSP), 8, DWARF_OP_DEREF);
}

/* OpenSSL's realigned stack: the caller's rsp is in rax, then in memory. */
CASE(test_realigned_by_hand)
{
	assert_says("0:rsp+8 3:unknown 10:*rsp+40+8,-2 20:rsp+8,-2", ADVANCE(3),
		    DWARF_CFA_DEF_CFA_REGISTER, 0, OFFSET(RBP), 2, ADVANCE(13),
		    DWARF_CFA_DEF_CFA_EXPRESSION, 5, BREG(RSP), 40, DWARF_OP_DEREF,
		    DWARF_OP_PLUS_UCONST, 8, ADVANCE(16), DWARF_CFA_DEF_CFA, RSP, 8);
	assert_says("0:*rsp+40+8", DWARF_CFA_DEF_CFA_EXPRESSION, 5, BREG(RSP), 40, DWARF_OP_DEREF,
		    DWARF_OP_PLUS_UCONST, 8);
	assert_says("0:unknown", DWARF_CFA_DEF_CFA_EXPRESSION, 5, BREG(RSP), 40, DWARF_OP_DEREF,
		    DWARF_OP_PLUS_UCONST, 16);
	assert_says("0:unknown", DWARF_CFA_DEF_CFA_EXPRESSION, 5, BREG(RBP), 40, DWARF_OP_DEREF,
		    DWARF_OP_PLUS_UCONST, 8);
	assert_says("0:unknown", DWARF_CFA_EXPRESSION, RBP, 2, BREG(RBP), 0,
		    DWARF_CFA_DEF_CFA_EXPRESSION, 5, BREG(RSP), 40, DWARF_OP_DEREF,
		    DWARF_OP_PLUS_UCONST, 8);
	assert_says("0:unknown", DWARF_CFA_EXPRESSION, RBP, 5, BREG(RSP), 40, DWARF_OP_DEREF,
		    DWARF_OP_PLUS_UCONST, 8);
}

#define PLT_EXPRESSION(threshold)                                                                  \
	DWARF_CFA_DEF_CFA_EXPRESSION, 11, BREG(RSP), 8, BREG(RA), 0, LIT(15), DWARF_OP_AND,        \
		LIT(threshold), DWARF_OP_GE, LIT(3), DWARF_OP_SHL, DWARF_OP_PLUS

CASE(test_plt)
{
	assert_says("0:rsp+16 6:rsp+24 10:plt", DWARF_CFA_DEF_CFA_OFFSET, 16, ADVANCE(6),
		    DWARF_CFA_DEF_CFA_OFFSET, 24, ADVANCE(10), PLT_EXPRESSION(11));
	assert_says("0:unknown", PLT_EXPRESSION(12));
	assert_says("0:unknown", OFFSET(RBP), 2, PLT_EXPRESSION(11));
	assert_says("0:unknown", DWARF_CFA_DEF_CFA_EXPRESSION, 0);
	assert_says("0:unknown", DWARF_CFA_DEF_CFA_EXPRESSION, 1, DWARF_OP_DEREF);
	assert_says("0:unknown", DWARF_CFA_DEF_CFA_EXPRESSION, 3, BREG(RSP), 8, DWARF_OP_PLUS);
	assert_says("0:unknown", DWARF_CFA_DEF_CFA_EXPRESSION, 4, BREG(RSP), 8, DWARF_OP_DEREF,
		    DWARF_OP_DEREF);
}

#define SIGNAL_CFA(at)                                                                             \
	DWARF_CFA_DEF_CFA_EXPRESSION, 4, BREG(RSP), 0x80 | (at & 0x7f), 1, DWARF_OP_DEREF
#define SIGNAL_RBP DWARF_CFA_EXPRESSION, RBP, 3, BREG(RSP), 0x80 | 120, 0
#define SIGNAL_RSP DWARF_CFA_EXPRESSION, RSP, 3, BREG(RSP), 0x80 | (160 & 0x7f), 1
#define SIGNAL_RA  DWARF_CFA_EXPRESSION, RA, 3, BREG(RSP), 0x80 | (168 & 0x7f), 1

CASE(test_signal)
{
	assert_says("0:signal", SIGNAL_CFA(160), SIGNAL_RBP, SIGNAL_RSP, SIGNAL_RA);
	assert_says("0:unknown", SIGNAL_CFA(168), SIGNAL_RBP, SIGNAL_RSP, SIGNAL_RA);
	assert_says("0:unknown", SIGNAL_CFA(160), SIGNAL_RSP, SIGNAL_RA);
	assert_says("0:unknown", SIGNAL_CFA(160), SIGNAL_RBP, SIGNAL_RSP);
}

CASE(test_return_address)
{
	assert_says("0:root", DWARF_CFA_UNDEFINED, RA);
	assert_says("0:root 1:rsp+8", DWARF_CFA_UNDEFINED, RA, ADVANCE(1), RESTORE(RA));
	assert_says("0:unknown", OFFSET(RA), 2);
	assert_says("0:unknown", DWARF_CFA_SAME_VALUE, RA);
	assert_says("0:unknown", DWARF_CFA_REGISTER, RA, 2);
	assert_says("0:unknown", DWARF_CFA_VAL_OFFSET, RA, 1);
}

/* The caller's rsp must be the CFA; otherwise the row is unknown. */
CASE(test_rsp)
{
	assert_says("0:rsp+8", DWARF_CFA_SAME_VALUE, RSP);
	assert_says("0:rsp+8", DWARF_CFA_VAL_OFFSET, RSP, 0);
	assert_says("0:unknown", DWARF_CFA_VAL_OFFSET, RSP, 1);
	assert_says("0:unknown", OFFSET(RSP), 3);
	assert_says("0:unknown 1:rsp+8", OFFSET(RSP), 3, ADVANCE(1), RESTORE(RSP));
	/* Rules of other registers are irrelevant. */
	assert_says("0:rsp+8", OFFSET(3), 3, DWARF_CFA_UNDEFINED, 0xff, 1, RESTORE(3));
}

CASE(test_remember)
{
	assert_says("0:rsp+8 1:rsp+16,-2 2:rsp+8 3:rsp+16,-2", ADVANCE(1), DWARF_CFA_DEF_CFA_OFFSET,
		    16, OFFSET(RBP), 2, DWARF_CFA_REMEMBER_STATE, ADVANCE(1),
		    DWARF_CFA_DEF_CFA_OFFSET, 8, RESTORE(RBP), ADVANCE(1), DWARF_CFA_RESTORE_STATE);
	assert_says("0:rsp+8 1:rsp+16 2:unknown", ADVANCE(1), DWARF_CFA_DEF_CFA_OFFSET, 16,
		    ADVANCE(1), DWARF_CFA_RESTORE_STATE, ADVANCE(1), DWARF_CFA_DEF_CFA_OFFSET, 8);
}

CASE(test_remember_bounded)
{
	uint8_t code[64];
	struct frame_program program;

	memset(code, DWARF_CFA_REMEMBER_STATE, 16);
	program = program_of(code, 16);
	assert_program(&program, START, END, "0:rsp+8");
	memset(code, DWARF_CFA_REMEMBER_STATE, 17);
	program = program_of(code, 17);
	assert_program(&program, START, END, "0:unknown");
}

CASE(test_args_size)
{
	assert_says("0:rsp+8 1:rsp+16", DWARF_CFA_GNU_ARGS_SIZE, 0x80, 1, ADVANCE(1),
		    DWARF_CFA_DEF_CFA_OFFSET, 16);
}

/* Rows are unknown after an invalid instruction, and valid before it. */
CASE(test_nonsense)
{
#define BEFORE ADVANCE(1), DWARF_CFA_DEF_CFA_OFFSET, 16, ADVANCE(1)
#define AFTER  "0:rsp+8 1:rsp+16 2:unknown"
	assert_says(AFTER, BEFORE, 0x17);
	assert_says(AFTER, BEFORE, 0x1d, 1);
	assert_says(AFTER, BEFORE, 0x2d);
	assert_says(AFTER, BEFORE, 0x3f);
	assert_says(AFTER, BEFORE, DWARF_CFA_ADVANCE_LOC1);
	assert_says(AFTER, BEFORE, DWARF_CFA_ADVANCE_LOC4, 1, 0, 0);
	assert_says(AFTER, BEFORE, DWARF_CFA_SET_LOC, 0, 0, 0);
	assert_says(AFTER, BEFORE, DWARF_CFA_SET_LOC, 0xfc, 0xbf, 0xff, 0xff); /* backwards */
	assert_says(AFTER, BEFORE, DWARF_CFA_DEF_CFA, RSP);
	assert_says(AFTER, BEFORE, DWARF_CFA_DEF_CFA_SF, RSP, 0x80);
	assert_says(AFTER, BEFORE, DWARF_CFA_DEF_CFA_OFFSET, 0x80);
	assert_says(AFTER, BEFORE, DWARF_CFA_DEF_CFA_REGISTER);
	assert_says(AFTER, BEFORE, DWARF_CFA_DEF_CFA_EXPRESSION, 2, BREG(RSP));
	assert_says(AFTER, BEFORE, DWARF_CFA_EXPRESSION, RBP, 0xff, 0xff, 0xff, 0xff, 0x7f);
	assert_says(AFTER, BEFORE, OFFSET(RBP));
	assert_says(AFTER, BEFORE, DWARF_CFA_OFFSET_EXTENDED);
	assert_says(AFTER, BEFORE, DWARF_CFA_OFFSET_EXTENDED_SF, RBP);
	assert_says(AFTER, BEFORE, DWARF_CFA_REGISTER, RBP);
	assert_says(AFTER, BEFORE, DWARF_CFA_GNU_ARGS_SIZE);
	/* There is no register and no offset that could be changed. */
	assert_says("0:unknown", DWARF_CFA_DEF_CFA_EXPRESSION, 1, LIT(0), DWARF_CFA_DEF_CFA_OFFSET,
		    8);
	assert_says("0:unknown", DWARF_CFA_DEF_CFA_EXPRESSION, 1, LIT(0),
		    DWARF_CFA_DEF_CFA_REGISTER, RSP);
}

CASE(test_window)
{
	CLEANUP(unwind_rows_deinit) struct unwind_rows rows = {0};
	const uint8_t code[] = {ADVANCE(1),
				DWARF_CFA_DEF_CFA_OFFSET,
				16,
				ADVANCE(16),
				DWARF_CFA_DEF_CFA_OFFSET,
				24,
				ADVANCE(16),
				DWARF_CFA_DEF_CFA_OFFSET,
				32,
				ADVANCE(16),
				0x3f /* not reached */};
	struct frame_program program = program_of(code, sizeof(code));
	struct frame_window window = {START + 0x18, START + 0x21, .offset = 0x100, .rows = &rows};

	assert_int_equal(frame_program_run(&program, &called, START, &window), 0);
	assert_rows(&rows, "100:rsp+24");
	window = (struct frame_window){START + 0x11, START + 0x22, .offset = 0x200, .rows = &rows};
	assert_int_equal(frame_program_run(&program, &called, START, &window), 0);
	assert_rows(&rows, "100:rsp+24 210:rsp+32");
}

CASE(test_initial_rules)
{
	const uint8_t code[] = {DWARF_CFA_DEF_CFA, RSP, 8, OFFSET(RA), 1};
	struct frame_program program = program_of(code, sizeof(code));
	struct frame_rules rules;

	assert_int_equal(frame_program_rules(&program, &rules), 0);
	assert_int_equal(frame_rules_row(&rules).cfa, UNWIND_CFA(UNWIND_CFA_RSP, 8));
	assert_int_equal(frame_rules_row(&rules).rbp, UNWIND_RBP_KEPT);
	/* No rule for the return address, then none for the CFA. */
	program = program_of(code, 3);
	assert_int_equal(frame_program_rules(&program, &rules), 0);
	assert_int_equal(frame_rules_row(&rules).cfa, UNWIND_CFA_COMMAND(UNWIND_UNKNOWN));
	program = program_of(code + 3, 2);
	assert_int_equal(frame_program_rules(&program, &rules), 0);
	assert_int_equal(frame_rules_row(&rules).cfa, UNWIND_CFA_COMMAND(UNWIND_UNKNOWN));
}

CASE(test_initial_nonsense)
{
	static const uint8_t codes[][6] = {
		{ADVANCE(1)},
		{DWARF_CFA_SET_LOC, 0, 0, 0, 0},
		{RESTORE(RBP)},
		{DWARF_CFA_RESTORE_EXTENDED, RBP},
		{DWARF_CFA_DEF_CFA_OFFSET, 8},
		{0x3f},
	};

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		struct frame_program program = program_of(codes[i], sizeof(codes[i]));
		struct frame_rules rules;

		assert_int_equal(frame_program_rules(&program, &rules), -EBADMSG);
	}
}

/* --- 32-bit code ------------------------------------------------------------------------ */

#define EBP DWARF_REGISTER_EBP
#define ESP DWARF_REGISTER_ESP
#define EIP DWARF_REGISTER_EIP
#define ECX 1

static void assert_narrow(const uint8_t *code, size_t size_bytes, int32_t cfa, int rbp)
{
	static const uint8_t initial[] = {DWARF_CFA_DEF_CFA, ESP, 4, OFFSET(EIP), 1};
	CLEANUP(unwind_rows_deinit) struct unwind_rows rows = {0};
	struct frame_window window = {.start = START, .end = END, .rows = &rows};
	struct frame_program program = program_of(initial, sizeof(initial));
	struct frame_rules rules;

	program.narrow = true;
	program.data_factor = -4;
	assert_int_equal(frame_program_rules(&program, &rules), 0);
	program.code = cursor_of(code, size_bytes);
	assert_int_equal(frame_program_run(&program, &rules, START, &window), 0);
	assert_int_equal(rows.rows.size, 1);
	assert_int_equal(rows.rows.data[0].cfa, cfa);
	assert_int_equal(rows.rows.data[0].rbp, rbp);
}

#define assert_narrow_says(cfa, rbp, ...)                                                          \
	do {                                                                                       \
		const uint8_t code_[] = {__VA_ARGS__};                                             \
		assert_narrow(code_, sizeof(code_), cfa, rbp);                                     \
	} while (0)

#define NARROW(rule, offset) UNWIND_NARROW_CFA(UNWIND_NARROW_##rule, offset)

CASE(test_narrow)
{
	int32_t unknown = UNWIND_CFA_COMMAND(UNWIND_UNKNOWN);

	assert_narrow_says(NARROW(ESP, 4), UNWIND_RBP_KEPT, DWARF_CFA_NOP);
	assert_narrow_says(NARROW(ESP, 12), -2, DWARF_CFA_DEF_CFA_OFFSET, 12, OFFSET(EBP), 2);
	assert_narrow_says(NARROW(EBP, 8), -2, DWARF_CFA_DEF_CFA, EBP, 8, OFFSET(EBP), 2);
	/* Registers 6 and 7 are esi and edi. */
	assert_narrow_says(NARROW(ESP, 12), UNWIND_RBP_KEPT, DWARF_CFA_DEF_CFA_OFFSET, 12,
			   OFFSET(6), 2, OFFSET(7), 3);
	assert_narrow_says(unknown, UNWIND_RBP_KEPT, DWARF_CFA_DEF_CFA, 7, 8);
	/* As of main(), whose stack is realigned: first by ecx, then by the word that has it. */
	assert_narrow_says(unknown, UNWIND_RBP_KEPT, DWARF_CFA_DEF_CFA, ECX, 0);
	assert_narrow_says(NARROW(SAVED, -4), 0, DWARF_CFA_DEF_CFA_EXPRESSION, 3, BREG(EBP), 0x7c,
			   DWARF_OP_DEREF, DWARF_CFA_EXPRESSION, EBP, 2, BREG(EBP), 0);
	assert_narrow_says(NARROW(PLT, 0), UNWIND_RBP_KEPT, DWARF_CFA_DEF_CFA_EXPRESSION, 11,
			   BREG(ESP), 4, BREG(EIP), 0, LIT(15), DWARF_OP_AND, LIT(11), DWARF_OP_GE,
			   LIT(2), DWARF_OP_SHL, DWARF_OP_PLUS);
	assert_narrow_says(UNWIND_CFA_COMMAND(UNWIND_ROOT), UNWIND_RBP_KEPT, DWARF_CFA_UNDEFINED,
			   EIP);
	assert_narrow_says(unknown, UNWIND_RBP_KEPT, DWARF_CFA_DEF_CFA_OFFSET, 6);
	assert_narrow_says(unknown, UNWIND_RBP_KEPT, DWARF_CFA_DEF_CFA_OFFSET, 0x80, 0x80, 0x80,
			   0x10);
	assert_narrow_says(NARROW(ESP, (1 << 25) - 4), UNWIND_RBP_KEPT, DWARF_CFA_DEF_CFA_OFFSET,
			   0xfc, 0xff, 0xff, 0x0f);
}
