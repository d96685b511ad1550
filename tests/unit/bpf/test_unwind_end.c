/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/bpf/step_stack.h"

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
