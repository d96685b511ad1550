/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <stdbool.h>

#include <limits.h>
#include <string.h>

#define BASE  0x7ffe00001000ull /* address of the test stack */
#define WORDS 64

#define NARROW_BASE 0xff001000ull /* its address as the stack of 32-bit code */

static uint64_t stack[WORDS];

static int read_stack(void *to, size_t size, uint64_t address)
{
	if (address >= NARROW_BASE && address < 1ull << 32)
		address += BASE - NARROW_BASE;
	if (address < BASE || address - BASE > sizeof(stack) - size)
		return -1;
	memcpy(to, (const char *)stack + (address - BASE), size);
	return 0;
}

#define unwind_read(dst, size, address) read_stack(dst, size, address)

#include "bpf/unwind.h"
#include "tests/unit/cases.h"

static uint64_t at(int word)
{
	return BASE + 8 * (uint64_t)word;
}

/* Each word contains its own address. */
static int setup(void **state)
{
	for (int i = 0; i < WORDS; i++)
		stack[i] = 0x1000 + (uint64_t)i;
	return 0;
}

static const struct unwind_state leaf = {.ip = 0x401234, .sp = BASE, .bp = BASE + 8 * 20};

static struct unwind_row made_row(int32_t cfa, int rbp)
{
	return (struct unwind_row){.cfa = cfa, .rbp = (int16_t)rbp};
}

static struct unwind_row command_row(int command)
{
	return made_row(UNWIND_CFA_COMMAND(command), UNWIND_RBP_KEPT);
}

static void assert_steps(struct unwind_state from, struct unwind_row row, uint64_t ip, uint64_t sp,
			 uint64_t bp)
{
	struct unwind_state s = from;

	assert_int_equal(unwind_step(&s, row), UNWIND_STEPPED);
	assert_int_equal(s.ip, ip);
	assert_int_equal(s.sp, sp);
	assert_int_equal(s.bp, bp);
}

/* At the end of a walk, the state is unchanged. */
static void assert_ends(struct unwind_state from, struct unwind_row row, enum jitbpf_stack_end end)
{
	struct unwind_state s = from;

	assert_int_equal(unwind_step(&s, row), end);
	assert_memory_equal(&s, &from, sizeof(s));
}

CASE_WITH(test_cfa_by_rsp, setup, NULL)
{
	assert_steps(leaf, made_row(UNWIND_CFA(UNWIND_CFA_RSP, 8), UNWIND_RBP_KEPT), 0x1000, at(1),
		     leaf.bp);
	assert_steps(leaf, made_row(UNWIND_CFA(UNWIND_CFA_RSP, 48), -2), 0x1005, at(6), 0x1004);
	assert_steps(leaf, made_row(UNWIND_CFA(UNWIND_CFA_RSP, 48), -6), 0x1005, at(6), 0x1000);
	assert_steps(leaf, made_row(UNWIND_CFA(UNWIND_CFA_RSP, 48), 0), 0x1005, at(6), 0x1006);
}

/* rbp is restored from any slot of a frame of any size. */
CASE_WITH(test_rbp_anywhere_in_a_frame, setup, NULL)
{
	for (int words = 1; words < 20; words++) {
		for (int rbp = -words; rbp < 20; rbp++)
			assert_steps(leaf, made_row(UNWIND_CFA(UNWIND_CFA_RSP, 8 * words), rbp),
				     0x1000 + (uint64_t)words - 1, at(words),
				     0x1000 + (uint64_t)(words + rbp));
	}
}

/* In an epilogue, rbp has already been popped while its row still names the slot. */
CASE_WITH(test_rbp_that_was_popped, setup, NULL)
{
	struct unwind_state ret = leaf;

	ret.sp = at(10);
	for (int rbp = -20; rbp < -1; rbp++)
		assert_steps(ret, made_row(UNWIND_CFA(UNWIND_CFA_RSP, 8), rbp), 0x100a, at(11),
			     ret.bp);
	assert_steps(ret, made_row(UNWIND_CFA(UNWIND_CFA_RSP, 16), -2), 0x100b, at(12), 0x100a);
}

CASE_WITH(test_cfa_by_rbp, setup, NULL)
{
	struct unwind_state s = leaf;

	assert_steps(leaf, made_row(UNWIND_CFA(UNWIND_CFA_RBP, 16), -2), 0x1015, at(22), 0x1014);
	assert_steps(leaf, made_row(UNWIND_CFA(UNWIND_CFA_RBP, -16), UNWIND_RBP_KEPT), 0x1011,
		     at(18), leaf.bp);
	assert_int_equal(unwind_step(&s, made_row(UNWIND_CFA(UNWIND_CFA_RBP, 16), -2)),
			 UNWIND_STEPPED);
	assert_int_equal(s.is_caller, 1);
	assert_int_equal(s.guessed, 0);
}

/* The CFA is 8 above an rsp that the function saved in its frame. */
CASE_WITH(test_cfa_by_saved_rsp, setup, NULL)
{
	int32_t cfa = UNWIND_CFA_AT_SLOT(40, 8);

	stack[5] = at(30);
	assert_steps(leaf, made_row(cfa, UNWIND_RBP_KEPT), 0x101e, at(31), leaf.bp);
	assert_steps(leaf, made_row(cfa, -2), 0x101e, at(31), 0x101d);
	stack[5] = at(-1);
	assert_ends(leaf, made_row(cfa, -2), JITBPF_END_BAD_FRAME);
	stack[5] = at(30) + 4;
	assert_ends(leaf, made_row(cfa, -2), JITBPF_END_BAD_FRAME);
	assert_ends(leaf, made_row(UNWIND_CFA_AT_SLOT(8 * WORDS, 8), -2), JITBPF_END_UNREADABLE);
}

/* A saved value may be any distance from the CFA, and its slot below rsp. */
CASE_WITH(test_cfa_far_from_saved_value, setup, NULL)
{
	static const int32_t limits[][2] = {
		{0, 0},
		{-UNWIND_SLOT_MAX, -UNWIND_SLOT_DISTANCE_MAX},
		{UNWIND_SLOT_MAX - 8, UNWIND_SLOT_DISTANCE_MAX - 8},
	};

	stack[8] = at(20);
	assert_steps(leaf, made_row(UNWIND_CFA_AT_SLOT(64, 56), -2), 0x101a, at(27), 0x1019);
	assert_steps(leaf, made_row(UNWIND_CFA_AT_SLOT(64, -24), -2), 0x1010, at(17), 0x100f);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		int32_t cfa = UNWIND_CFA_AT_SLOT(limits[i][0], limits[i][1]);

		assert_int_equal(cfa & UNWIND_RULE_MASK, UNWIND_CFA_SAVED_RSP);
		assert_int_equal(UNWIND_SLOT(cfa), limits[i][0]);
		assert_int_equal(UNWIND_SLOT_DISTANCE(cfa), limits[i][1]);
	}
}

/* A realigned stack: the CFA and rbp are saved in the frame. */
CASE_WITH(test_cfa_saved, setup, NULL)
{
	stack[19] = at(40);
	stack[20] = 0x77;
	assert_steps(leaf, made_row(UNWIND_CFA(UNWIND_CFA_SAVED, -8), 0), 0x1027, at(40), 0x77);
	assert_steps(leaf, made_row(UNWIND_CFA(UNWIND_CFA_SAVED, -8), UNWIND_RBP_KEPT), 0x1027,
		     at(40), leaf.bp);
	stack[19] = at(40) + 4;
	assert_ends(leaf, made_row(UNWIND_CFA(UNWIND_CFA_SAVED, -8), 0), JITBPF_END_BAD_FRAME);
	stack[19] = leaf.sp;
	assert_ends(leaf, made_row(UNWIND_CFA(UNWIND_CFA_SAVED, -8), 0), JITBPF_END_BAD_FRAME);
	assert_ends(leaf, made_row(UNWIND_CFA(UNWIND_CFA_SAVED, 8 * WORDS), 0),
		    JITBPF_END_UNREADABLE);
}

/* The first instructions of a PLT entry have not pushed anything yet. */
CASE_WITH(test_plt, setup, NULL)
{
	struct unwind_state s = leaf;

	s.ip = 0x40102a;
	assert_steps(s, command_row(UNWIND_PLT), 0x1000, at(1), leaf.bp);
	s.ip = 0x40102b;
	assert_steps(s, command_row(UNWIND_PLT), 0x1001, at(2), leaf.bp);
	s.ip = 0x401030;
	assert_steps(s, command_row(UNWIND_PLT), 0x1000, at(1), leaf.bp);
}

static struct unwind_signal_regs *made_signal_frame(int word, uint64_t ip, uint64_t sp, uint64_t bp)
{
	struct unwind_signal_regs *regs =
		(struct unwind_signal_regs *)&stack[word + UNWIND_SIGNAL_REGS / 8];

	*regs = (struct unwind_signal_regs){
		.ip = ip, .sp = sp, .bp = bp, .cs = 0x002b000000000000 | UNWIND_CS};
	return regs;
}

/* A signal frame: the interrupted frame is no caller, and may be below the handler's stack. */
CASE_WITH(test_signal, setup, NULL)
{
	struct unwind_state s = leaf;

	s.is_caller = 1;
	made_signal_frame(0, 0x405678, 0x600010, 0x600040);
	assert_int_equal(unwind_step(&s, command_row(UNWIND_SIGNAL)), UNWIND_STEPPED);
	assert_int_equal(s.ip, 0x405678);
	assert_int_equal(s.sp, 0x600010);
	assert_int_equal(s.bp, 0x600040);
	assert_int_equal(s.is_caller, 0);
	assert_int_equal(unwind_frame_ip(&s), 0x405679);
	s.is_caller = 1;
	assert_int_equal(unwind_frame_ip(&s), 0x405678);
}

/* Wine runs 32-bit code in 64-bit processes. */
CASE_WITH(test_signal_in_narrow_code, setup, NULL)
{
	struct unwind_state s = leaf;

	made_signal_frame(0, 0x405678, 0x600010, 0x600040)->cs = UNWIND_CS_32;
	assert_int_equal(unwind_step(&s, command_row(UNWIND_SIGNAL)), UNWIND_STEPPED);
	assert_int_equal(s.ip, 0x405678);
	assert_int_equal(s.narrow, 1);
	made_signal_frame(0, 0x405678, 0x600010, 0x600040);
	assert_int_equal(
		unwind_step(&(struct unwind_state){.sp = BASE}, command_row(UNWIND_SIGNAL)),
		UNWIND_STEPPED);
}

CASE_WITH(test_signal_frames_that_lie, setup, NULL)
{
	struct unwind_state s = leaf;

	made_signal_frame(0, 0, 0x600010, 0x600040);
	assert_ends(leaf, command_row(UNWIND_SIGNAL), JITBPF_END_NO_ROOT);
	made_signal_frame(0, 0x405678, 0x600010, 0x600040)->cs = 0x0f;
	assert_ends(leaf, command_row(UNWIND_SIGNAL), JITBPF_END_BAD_FRAME);
	s.sp = at(WORDS) - UNWIND_SIGNAL_REGS - sizeof(struct unwind_signal_regs) + 8;
	assert_ends(s, command_row(UNWIND_SIGNAL), JITBPF_END_UNREADABLE);
	s.sp = BASE - UNWIND_SIGNAL_REGS - 8;
	assert_ends(s, command_row(UNWIND_SIGNAL), JITBPF_END_UNREADABLE);
	s.sp = UINT64_MAX - 8;
	assert_ends(s, command_row(UNWIND_SIGNAL), JITBPF_END_UNREADABLE);
}

/* sp is that of a signal frame already, ip is still the interrupted one. */
CASE_WITH(test_half_delivered_signal, setup, NULL)
{
	struct unwind_state s = leaf;

	made_signal_frame(1, leaf.ip, 0x600010, 0x600040);
	unwind_undo_delivery(&s);
	assert_int_equal(s.ip, leaf.ip);
	assert_int_equal(s.sp, 0x600010);
	assert_int_equal(s.bp, 0x600040);
	assert_int_equal(s.is_caller, 0);
}

static void assert_is_left(struct unwind_state s)
{
	struct unwind_state before = s;

	unwind_undo_delivery(&s);
	assert_memory_equal(&s, &before, sizeof(s));
}

CASE_WITH(test_other_frames_are_no_half_delivered_signals, setup, NULL)
{
	struct unwind_signal_regs *regs = made_signal_frame(1, leaf.ip, 0x600010, 0x600040);
	struct unwind_state s = leaf;

	regs->cs = 0x23;
	assert_is_left(leaf);
	regs->cs = UNWIND_CS;
	s.ip++;
	assert_is_left(s);
	s = leaf;
	s.sp = at(WORDS) - UNWIND_SIGNAL_REGS;
	assert_is_left(s);
	s.sp = UINT64_MAX - 8;
	assert_is_left(s);
}

/* A frame of an interpreter: the caller's rsp is not next to the return address. */
CASE_WITH(test_interpreter, setup, NULL)
{
	struct unwind_row row = command_row(UNWIND_INTERPRETER);
	struct unwind_state s = leaf;

	s.bp = at(20);
	stack[19] = at(27);
	stack[20] = at(30);
	assert_steps(s, row, 0x1015, at(27), at(30));
	assert_int_equal(unwind_step(&s, row), UNWIND_STEPPED);
	assert_int_equal(s.guessed, 0);
	assert_int_equal(s.rbp, UNWIND_OTHER_WORDS);
	assert_int_equal(s.is_caller, 1);
}

CASE_WITH(test_interpreter_frames_that_lie, setup, NULL)
{
	struct unwind_row row = command_row(UNWIND_INTERPRETER);
	struct unwind_state s = leaf;

	s.bp = at(20);
	stack[19] = at(27) + 4;
	assert_ends(s, row, JITBPF_END_BAD_FRAME);
	stack[19] = at(20); /* not above the frame */
	assert_ends(s, row, JITBPF_END_BAD_FRAME);
	stack[19] = at(27);
	stack[21] = 0;
	assert_ends(s, row, JITBPF_END_NO_ROOT);
	s.sp = at(21);
	assert_ends(s, row, JITBPF_END_BAD_FRAME);
	s.sp = leaf.sp;
	s.bp = at(WORDS);
	assert_ends(s, row, JITBPF_END_UNREADABLE);
	s.bp = UINT64_MAX - 8;
	assert_ends(s, row, JITBPF_END_UNREADABLE);
	s.bp = 0;
	assert_ends(s, row, JITBPF_END_BAD_FRAME);
}

CASE_WITH(test_rules_that_end_a_walk, setup, NULL)
{
	assert_ends(leaf, command_row(UNWIND_ROOT), JITBPF_END_ROOT);
	assert_ends(leaf, command_row(UNWIND_NOT_MADE), JITBPF_END_NO_RULE);
	assert_ends(leaf, command_row(UNWIND_UNKNOWN), JITBPF_END_NO_RULE);
	assert_ends(leaf, command_row(UNWIND_FROZEN), JITBPF_END_FROZEN);
	for (int command = UNWIND_FROZEN + 1; command < 100; command++) {
		if (command % 16 != UNWIND_SAVED)
			assert_ends(leaf, command_row(command), JITBPF_END_NO_RULE);
	}
	assert_ends(leaf, command_row(-1), JITBPF_END_NO_RULE);
	for (int rule = UNWIND_CFA_RBP_FINAL + 1; rule < UNWIND_COMMAND; rule++)
		assert_ends(leaf, made_row(UNWIND_CFA(rule, 16), UNWIND_RBP_KEPT),
			    JITBPF_END_NO_RULE);
}

CASE_WITH(test_frame_pointers, setup, NULL)
{
	struct unwind_state s = leaf;

	stack[20] = at(30);
	assert_int_equal(unwind_step(&s, command_row(UNWIND_FRAME_POINTER)), UNWIND_STEPPED);
	assert_int_equal(s.ip, 0x1015);
	assert_int_equal(s.sp, at(22));
	assert_int_equal(s.bp, at(30));
	assert_int_equal(s.guessed, 1);
	/* Once a frame was guessed, the walk stays guessed. */
	assert_int_equal(unwind_step(&s, made_row(UNWIND_CFA(UNWIND_CFA_RSP, 8), UNWIND_RBP_KEPT)),
			 UNWIND_STEPPED);
	assert_int_equal(s.guessed, 1);
}

CASE_WITH(test_frame_pointers_that_point_elsewhere, setup, NULL)
{
	struct unwind_row row = command_row(UNWIND_FRAME_POINTER);
	struct unwind_state s = leaf;

	s.bp = 0;
	assert_ends(s, row, JITBPF_END_NO_ROOT);
	s.sp = at(10);
	for (int word = 0; word < 10; word++) {
		s.bp = at(word);
		assert_ends(s, row, JITBPF_END_BAD_FRAME);
	}
	s.bp = at(10);
	assert_steps(s, row, 0x100b, at(12), 0x100a);
	s.bp = at(12) + 4;
	assert_ends(s, row, JITBPF_END_BAD_FRAME);
	s.bp = at(WORDS - 1);
	assert_ends(s, row, JITBPF_END_UNREADABLE);
	s.bp = UINT64_MAX - 7;
	assert_ends(s, row, JITBPF_END_BAD_FRAME);
	s.bp = UINT64_MAX - 23;
	assert_ends(s, row, JITBPF_END_UNREADABLE);
}

/* A frame that points to itself or to a lower address ends the walk. */
CASE_WITH(test_no_way_round_in_circles, setup, NULL)
{
	struct unwind_state s = leaf;

	stack[20] = at(20);
	assert_int_equal(unwind_step(&s, command_row(UNWIND_FRAME_POINTER)), UNWIND_STEPPED);
	assert_ends(s, command_row(UNWIND_FRAME_POINTER), JITBPF_END_BAD_FRAME);
	assert_ends(s, made_row(UNWIND_CFA(UNWIND_CFA_RBP, 16), -2), JITBPF_END_BAD_FRAME);
}

CASE_WITH(test_rows_that_lead_nowhere, setup, NULL)
{
	static const int32_t offsets[] = {0, -8, INT32_MIN, 4, 12};
	static const int32_t far[] = {8 * (WORDS + 1), INT32_MAX & ~UNWIND_RULE_MASK};
	struct unwind_state s = leaf;

	for (size_t i = 0; i < 3; i++)
		assert_ends(leaf, made_row(UNWIND_CFA(UNWIND_CFA_RSP, offsets[i]), -2),
			    JITBPF_END_BAD_FRAME);
	for (size_t i = 0; i < 2; i++)
		assert_ends(leaf, made_row(UNWIND_CFA(UNWIND_CFA_RSP, far[i]), UNWIND_RBP_KEPT),
			    JITBPF_END_UNREADABLE);
	assert_ends(leaf, made_row(UNWIND_CFA(UNWIND_CFA_RBP, INT32_MIN), -2),
		    JITBPF_END_BAD_FRAME);
	/* The return address is readable, rbp is not. */
	assert_ends(leaf, made_row(UNWIND_CFA(UNWIND_CFA_RSP, 8), 0x7ffe), JITBPF_END_UNREADABLE);
	/* Beyond the end of the address space. */
	s.sp = UINT64_MAX - 15;
	assert_ends(s, made_row(UNWIND_CFA(UNWIND_CFA_RSP, 16), UNWIND_RBP_KEPT),
		    JITBPF_END_BAD_FRAME);
	s.sp = BASE + 4;
	assert_ends(s, made_row(UNWIND_CFA(UNWIND_CFA_RSP, 8), UNWIND_RBP_KEPT),
		    JITBPF_END_BAD_FRAME);
}

CASE_WITH(test_no_return_address, setup, NULL)
{
	stack[5] = 0;
	assert_ends(leaf, made_row(UNWIND_CFA(UNWIND_CFA_RSP, 48), -2), JITBPF_END_NO_ROOT);
}

#define STACK_TOP      0x7fff00000000ull
#define THREAD_POINTER 0x7f0000800000ull

CASE(test_limits)
{
	assert_int_equal(unwind_stack_limit(STACK_TOP - 100, STACK_TOP, THREAD_POINTER), STACK_TOP);
	assert_int_equal(unwind_stack_limit(STACK_TOP, STACK_TOP, THREAD_POINTER), STACK_TOP);
	assert_int_equal(unwind_stack_limit(STACK_TOP + 1, STACK_TOP, THREAD_POINTER), 0);
	assert_int_equal(unwind_stack_limit(THREAD_POINTER - 100, STACK_TOP, THREAD_POINTER),
			 THREAD_POINTER);
	assert_int_equal(unwind_stack_limit(THREAD_POINTER + 1, STACK_TOP, THREAD_POINTER), 0);
	assert_int_equal(unwind_stack_limit(THREAD_POINTER - UNWIND_STACK_BYTES_MAX, STACK_TOP,
					    THREAD_POINTER),
			 0);
	assert_int_equal(unwind_stack_limit(0, 0, 0), 0);
}

/* Returns how a walk that ended by a command, `below` bytes under the stack top, is judged. */
static enum jitbpf_stack_end judged(int command, enum jitbpf_stack_end end, uint64_t below,
				    uint32_t callers)
{
	struct unwind_state s = {.sp = STACK_TOP - below, .thread_pointer = THREAD_POINTER};

	return unwind_end(&s, command_row(command), end, callers, STACK_TOP, true);
}

CASE(test_guesses_are_judged_by_where_they_end)
{
	struct unwind_state s = {.sp = STACK_TOP - 100, .thread_pointer = THREAD_POINTER};
	int guess = UNWIND_FRAME_POINTER;

	assert_int_equal(judged(guess, JITBPF_END_NO_ROOT, 100, 3), JITBPF_END_ROOT);
	assert_int_equal(judged(guess, JITBPF_END_BAD_FRAME, 100, 3), JITBPF_END_BAD_FRAME);
	assert_int_equal(judged(guess, JITBPF_END_UNREADABLE, 100, 3), JITBPF_END_UNREADABLE);
	assert_int_equal(judged(guess, JITBPF_END_NO_ROOT, UNWIND_MAIN_TOP_BYTES + 8, 3),
			 JITBPF_END_NO_ROOT);
	assert_int_equal(judged(guess, JITBPF_END_UNREADABLE, 5000, 3), JITBPF_END_UNREADABLE);
	/* Without callers there is no proof of a root. */
	assert_int_equal(judged(guess, JITBPF_END_BAD_FRAME, 100, 0), JITBPF_END_BAD_FRAME);
	assert_int_equal(judged(guess, JITBPF_END_NO_ROOT, 100, 0), JITBPF_END_NO_ROOT);
	/* JIT code is no outermost frame. */
	assert_int_equal(
		unwind_end(&s, command_row(guess), JITBPF_END_NO_ROOT, 3, STACK_TOP, false),
		JITBPF_END_NO_ROOT);
	/* On an unknown stack, the end of the frame pointer chain is no evidence. */
	assert_int_equal(judged(guess, JITBPF_END_NO_ROOT, 2 * UNWIND_STACK_BYTES_MAX, 3),
			 JITBPF_END_NO_ROOT);
}

/* A walk by frame pointers alone. libc's outermost frames have none. */
static enum jitbpf_stack_end judged_chain(uint64_t sp)
{
	return unwind_judge_end(JITBPF_END_BAD_FRAME, 2, sp, sp, STACK_TOP, THREAD_POINTER);
}

CASE(test_chains_are_judged_by_where_they_end)
{
	assert_int_equal(judged_chain(STACK_TOP - 100), JITBPF_END_ROOT);
	assert_int_equal(judged_chain(STACK_TOP - UNWIND_MAIN_TOP_BYTES - 8), JITBPF_END_BAD_FRAME);
	assert_int_equal(judged_chain(THREAD_POINTER - 2000), JITBPF_END_ROOT);
	assert_int_equal(judged_chain(THREAD_POINTER - UNWIND_THREAD_TOP_BYTES - 8),
			 JITBPF_END_BAD_FRAME);
}

/* Ends that unwind tables mark are believed. */
CASE(test_rules_are_believed)
{
	struct unwind_state s = {.sp = STACK_TOP - 5000};
	struct unwind_row row = made_row(UNWIND_CFA(UNWIND_CFA_RSP, 8), UNWIND_RBP_KEPT);

	assert_int_equal(judged(UNWIND_ROOT, JITBPF_END_ROOT, 5000, 3), JITBPF_END_ROOT);
	assert_int_equal(judged(UNWIND_ROOT, JITBPF_END_ROOT, 100, 0), JITBPF_END_ROOT);
	assert_int_equal(judged(UNWIND_NOT_MADE, JITBPF_END_NO_RULE, 100, 3), JITBPF_END_NO_RULE);
	assert_int_equal(judged(UNWIND_UNKNOWN, JITBPF_END_NO_RULE, 100, 3), JITBPF_END_NO_RULE);
	assert_int_equal(unwind_end(&s, row, JITBPF_END_UNREADABLE, 3, STACK_TOP, true),
			 JITBPF_END_UNREADABLE);
	assert_int_equal(unwind_end(&s, row, JITBPF_END_NO_ROOT, 3, STACK_TOP, true),
			 JITBPF_END_NO_ROOT);
	s.sp = STACK_TOP - 100;
	assert_int_equal(unwind_end(&s, row, JITBPF_END_NO_ROOT, 3, STACK_TOP, true),
			 JITBPF_END_ROOT);
	assert_int_equal(unwind_end(&s, row, JITBPF_END_BAD_FRAME, 3, STACK_TOP, true),
			 JITBPF_END_BAD_FRAME);
}

/* On a stack that is not the thread's own, a return address 0 is a root in few functions only. */
CASE_WITH(test_functions_that_cannot_return, setup, NULL)
{
	struct unwind_row by_rsp = made_row(UNWIND_CFA(UNWIND_CFA_RSP_FINAL, 16), -2);
	struct unwind_row by_rbp = made_row(UNWIND_CFA(UNWIND_CFA_RBP_FINAL, 16), -2);
	struct unwind_row other = made_row(UNWIND_CFA(UNWIND_CFA_RSP, 16), -2);
	struct unwind_state s = leaf;

	/* Otherwise they are functions like others. */
	stack[0] = at(33);
	assert_steps(leaf, by_rsp, stack[1], at(2), at(33));
	stack[20] = at(34);
	assert_steps(leaf, by_rbp, stack[21], at(22), at(34));
	stack[1] = stack[21] = 0;
	assert_ends(leaf, by_rsp, JITBPF_END_NO_ROOT);
	assert_ends(leaf, by_rbp, JITBPF_END_NO_ROOT);
	assert_int_equal(unwind_end(&s, by_rsp, JITBPF_END_NO_ROOT, 3, STACK_TOP, true),
			 JITBPF_END_ROOT);
	assert_int_equal(unwind_end(&s, by_rbp, JITBPF_END_NO_ROOT, 3, STACK_TOP, true),
			 JITBPF_END_ROOT);
	assert_int_equal(unwind_end(&s, other, JITBPF_END_NO_ROOT, 3, STACK_TOP, true),
			 JITBPF_END_NO_ROOT);
	assert_int_equal(unwind_end(&s, by_rsp, JITBPF_END_NO_ROOT, 3, STACK_TOP, false),
			 JITBPF_END_NO_ROOT);
	assert_int_equal(unwind_end(&s, by_rsp, JITBPF_END_UNREADABLE, 3, STACK_TOP, true),
			 JITBPF_END_UNREADABLE);
}

/* rbp is a frame pointer, and rsp is above it, on another stack. */
CASE_WITH(test_switched_stack, setup, NULL)
{
	struct unwind_row row = command_row(UNWIND_SWITCHED);
	struct unwind_state s = leaf;

	s.sp = at(30);
	s.bp = at(10);
	stack[10] = at(5);
	assert_steps(s, row, stack[11], at(12), at(5));
	assert_int_equal(unwind_step(&s, row), UNWIND_STEPPED);
	assert_int_equal(s.rbp, UNWIND_OTHER_WORDS);
	assert_int_equal(s.guessed, 0);
	s.sp = at(30);
	s.bp = at(10) + 4;
	assert_ends(s, row, JITBPF_END_BAD_FRAME);
	s.bp = 0;
	assert_ends(s, row, JITBPF_END_UNREADABLE);
	s.bp = at(10);
	stack[11] = 0;
	assert_ends(s, row, JITBPF_END_NO_ROOT);
}

/* thread pointer - 8: the first pointer; and so on up to the saved registers. */
CASE_WITH(test_registers_that_were_saved, setup, NULL)
{
	enum { FIRST = 48, SECOND = 192, OFFSET = 56, FRAME = 48 };
	struct unwind_row row = made_row(UNWIND_SAVED_AT(FIRST, SECOND, OFFSET, FRAME), -1);
	struct unwind_state s = leaf;
	int g = 2, m = 1, stopped = 5;

	s.thread_pointer = at(1);
	stack[0] = at(g);
	stack[g + FIRST / 8] = at(m);
	stack[m + SECOND / 8] = at(stopped);
	stack[stopped + OFFSET / 8] = at(3); /* below rsp: on another stack */
	stack[stopped + OFFSET / 8 + 1] = 0x405678;
	stack[stopped + OFFSET / 8 + FRAME / 8] = at(4);
	assert_steps(s, row, 0x405678, at(3), at(4));
	assert_int_equal(unwind_step(&s, row), UNWIND_STEPPED);
	assert_int_equal(s.is_caller, 1);
	assert_int_equal(s.rbp, UNWIND_OTHER_WORDS);

	stack[stopped + OFFSET / 8 + 1] = 0;
	assert_ends(s, row, JITBPF_END_BAD_FRAME);
	stack[stopped + OFFSET / 8 + 1] = 0x405678;
	stack[stopped + OFFSET / 8] = at(3) + 1;
	assert_ends(s, row, JITBPF_END_BAD_FRAME);
	stack[stopped + OFFSET / 8] = 0;
	assert_ends(s, row, JITBPF_END_BAD_FRAME);
	stack[m + SECOND / 8] = 0; /* the thread works for none */
	assert_ends(s, row, JITBPF_END_ROOT);
	stack[m + SECOND / 8] = at(WORDS);
	assert_ends(s, row, JITBPF_END_UNREADABLE);
	stack[0] = 0;
	assert_ends(s, row, JITBPF_END_UNREADABLE);
	s.thread_pointer = 0;
	assert_ends(s, row, JITBPF_END_UNREADABLE);
}

CASE(test_offsets_of_saved_registers)
{
	static const uint32_t firsts[] = {0, 48, 504}, seconds[] = {0, 184, 8184},
			      offsets[] = {0, 56, 504}, frames[] = {8, 40, 56};

	for (int i = 0; i < 81; i++) {
		uint32_t first = firsts[i % 3], second = seconds[i / 3 % 3],
			 offset = offsets[i / 9 % 3], frame = frames[i / 27];
		int32_t cfa = UNWIND_SAVED_AT(first, second, offset, frame);

		assert_int_equal(cfa & UNWIND_RULE_MASK, UNWIND_COMMAND);
		assert_int_equal(UNWIND_COMMAND_OF(cfa), UNWIND_SAVED);
		assert_int_equal(UNWIND_SAVED_FIRST(cfa), first);
		assert_int_equal(UNWIND_SAVED_SECOND(cfa), second);
		assert_int_equal(UNWIND_SAVED_OFFSET(cfa), offset);
		assert_int_equal(UNWIND_SAVED_FRAME(cfa), frame / 8);
	}
}

/* --- 32-bit code --------------------------------------------------------------------- */

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
