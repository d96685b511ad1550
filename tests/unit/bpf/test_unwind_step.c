/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/bpf/step_stack.h"

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
