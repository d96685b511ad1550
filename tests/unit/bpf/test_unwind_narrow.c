/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/bpf/step_stack.h"

static const struct unwind_state narrow_leaf = {
	.ip = 0x8048123, .sp = NARROW_BASE, .bp = NARROW_BASE + 4 * 20, .narrow = 1};

static uint64_t narrow_at(int word)
{
	return NARROW_BASE + 4 * (uint64_t)word;
}

static uint32_t *narrow_words(void)
{
	uint32_t *words = (uint32_t *)stack;

	for (uint32_t i = 0; i < 2 * WORDS; i++)
		words[i] = 0x1000 + i;
	return words;
}

static struct unwind_row narrow_row(enum unwind_narrow_rule rule, int offset, int rbp)
{
	return made_row(UNWIND_NARROW_CFA(rule, offset), rbp);
}

static void assert_narrow(struct unwind_state from, struct unwind_row row, uint64_t ip, uint64_t sp,
			  uint64_t bp)
{
	struct unwind_state s = from;

	assert_int_equal(unwind_step_narrow(&s, row), UNWIND_STEPPED);
	assert_int_equal(s.ip, ip);
	assert_int_equal(s.sp, sp);
	assert_int_equal(s.bp, bp);
	assert_int_equal(s.narrow, 1);
	assert_int_equal(s.rbp, UNWIND_OTHER_WORDS);
}

static void assert_narrow_ends(struct unwind_state from, struct unwind_row row,
			       enum jitbpf_stack_end end)
{
	struct unwind_state s = from;

	assert_int_equal(unwind_step_narrow(&s, row), end);
	assert_memory_equal(&s, &from, sizeof(s));
}

CASE(test_narrow)
{
	uint64_t bp = narrow_leaf.bp;

	narrow_words()[30] = (uint32_t)narrow_at(40);
	assert_narrow(narrow_leaf, narrow_row(UNWIND_NARROW_ESP, 4, UNWIND_RBP_KEPT), 0x1000,
		      narrow_at(1), bp);
	assert_narrow(narrow_leaf, narrow_row(UNWIND_NARROW_ESP, 48, -2), 0x100b, narrow_at(12),
		      0x100a);
	assert_narrow(narrow_leaf, narrow_row(UNWIND_NARROW_ESP, 48, -5), 0x100b, narrow_at(12),
		      0x1007);
	/* ebp has been popped. */
	assert_narrow(narrow_leaf, narrow_row(UNWIND_NARROW_ESP, 4, -2), 0x1000, narrow_at(1), bp);
	assert_narrow(narrow_leaf, narrow_row(UNWIND_NARROW_EBP, 8, -2), 0x1015, narrow_at(22),
		      0x1014);
	assert_narrow(narrow_leaf, command_row(UNWIND_FRAME_POINTER), 0x1015, narrow_at(22),
		      0x1014);
	/* The CFA is at ebp + 40; the saved ebp is relative to ebp. */
	assert_narrow(narrow_leaf, narrow_row(UNWIND_NARROW_SAVED, 40, 0), 0x1027, narrow_at(40),
		      0x1014);
	assert_narrow(narrow_leaf, narrow_row(UNWIND_NARROW_PLT, 0, UNWIND_RBP_KEPT), 0x1000,
		      narrow_at(1), bp);
}

CASE(test_narrow_ends)
{
	struct unwind_state s = narrow_leaf;

	narrow_words()[0] = 0;
	assert_narrow_ends(s, narrow_row(UNWIND_NARROW_ESP, 4, UNWIND_RBP_KEPT),
			   JITBPF_END_NO_ROOT);
	assert_narrow_ends(s, command_row(UNWIND_ROOT), JITBPF_END_ROOT);
	assert_narrow_ends(s, narrow_row(UNWIND_NARROW_ESP, 0, UNWIND_RBP_KEPT),
			   JITBPF_END_BAD_FRAME);
	assert_narrow_ends(s, narrow_row(UNWIND_NARROW_ESP, 6, UNWIND_RBP_KEPT),
			   JITBPF_END_BAD_FRAME);
	assert_narrow_ends(s, narrow_row(UNWIND_NARROW_ESP, 8 * WORDS + 4, UNWIND_RBP_KEPT),
			   JITBPF_END_UNREADABLE);
	assert_narrow_ends(s, narrow_row(UNWIND_NARROW_ESP, (1 << 25) - 4, UNWIND_RBP_KEPT),
			   JITBPF_END_BAD_FRAME);
	assert_narrow_ends(s, narrow_row(7, 4, UNWIND_RBP_KEPT), JITBPF_END_NO_RULE);
	s.bp = 0;
	assert_narrow_ends(s, command_row(UNWIND_FRAME_POINTER), JITBPF_END_NO_ROOT);
	s.bp = s.sp - 4;
	assert_narrow_ends(s, command_row(UNWIND_FRAME_POINTER), JITBPF_END_BAD_FRAME);
}

/* Rows of 64-bit code mean something else in 32-bit code, and the other way round. */
CASE(test_rows_of_the_other_width)
{
	static const int commands[] = {UNWIND_NOT_MADE, UNWIND_UNKNOWN,	    UNWIND_PLT,
				       UNWIND_SIGNAL,	UNWIND_INTERPRETER, UNWIND_SWITCHED,
				       UNWIND_SAVED,	UNWIND_FROZEN};

	narrow_words();
	for (int rule = UNWIND_NARROW_ESP; rule <= UNWIND_NARROW_SIGNAL; rule++)
		assert_ends(leaf, narrow_row(rule, 8, UNWIND_RBP_KEPT), JITBPF_END_NO_RULE);
	for (int rule = UNWIND_CFA_RSP; rule <= UNWIND_CFA_RBP_FINAL; rule++)
		assert_narrow_ends(narrow_leaf, made_row(UNWIND_CFA(rule, 8), UNWIND_RBP_KEPT),
				   JITBPF_END_NO_RULE);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		assert_narrow_ends(narrow_leaf, command_row(commands[i]), JITBPF_END_NO_RULE);
}

CASE(test_narrow_signal)
{
	struct unwind_narrow_regs *regs =
		(void *)((char *)narrow_words() + 16 + UNWIND_NARROW_REGS);
	struct unwind_row row = narrow_row(UNWIND_NARROW_SIGNAL, 16, UNWIND_RBP_KEPT);
	struct unwind_state s = narrow_leaf;

	*regs = (struct unwind_narrow_regs){
		.ip = 0x8049000, .sp = 0x600010, .bp = 0x600040, .cs = 0x002b0000 | UNWIND_CS_32};
	assert_narrow(s, row, 0x8049000, 0x600010, 0x600040);
	s.is_caller = 1;
	assert_int_equal(unwind_step_narrow(&s, row), UNWIND_STEPPED);
	assert_int_equal(s.is_caller, 0);
	/* A 32-bit handler that interrupted 64-bit code has lost its registers. */
	regs->cs = UNWIND_CS;
	assert_narrow_ends(narrow_leaf, row, JITBPF_END_BAD_FRAME);
	regs->cs = UNWIND_CS_32;
	regs->ip = 0;
	assert_narrow_ends(narrow_leaf, row, JITBPF_END_NO_ROOT);
	s = narrow_leaf;
	s.sp = narrow_at(2 * WORDS) - 20;
	assert_narrow_ends(s, row, JITBPF_END_UNREADABLE);
}
