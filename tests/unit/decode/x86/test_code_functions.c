/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows of parts of files with several functions, whose starts are only likely. */
#include <stdint.h>

#include <errno.h>
#include <stdlib.h>

#include "base/scope.h"
#include "decode/x86/code_functions.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/x86/assembled.h"

#define ADDRESS	  0x401000
#define NO_ENTRY  0
#define ALL_BYTES 0x10000 /* executable bytes of the file around the code */

static void check(const uint8_t *begin, const uint8_t *end, uint64_t entry,
		  const struct code_start *list, size_t count, const char *expected)
{
	struct code_starts starts = {
		.low = ADDRESS - ALL_BYTES,
		.high = ADDRESS + ALL_BYTES,
		.entry = entry,
	};
	struct unwind_rows rows = {0};

	for (size_t i = 0; i < count; i++) {
		struct code_start start = {ALL_BYTES + list[i].at, list[i].signs};

		assert_int_equal(vec_push(&starts.starts, start), 0);
	}
	assert_int_equal(code_functions(begin, end - begin, ADDRESS, &starts, &rows), 0);
	code_starts_deinit(&starts);
	check_text(&rows, expected);
}

#define CHECK_STARTS(name, entry, starts, expected)                                                \
	check(name##_begin, name##_end, entry, starts, ARRAY_SIZE(starts), expected)

static const struct code_start none[1] = {{ALL_BYTES - 1, CODE_START_MENTIONED}};

/* Nobody mentions the second function, and padding is before it. */
CODE(two, "push %rbx\n sub $16,%rsp\n add $16,%rsp\n pop %rbx\n ret\n nopw (%rax,%rax)\n"
	  "push %r12\n push %rbx\n pop %rbx\n pop %r12\n ret");

CASE(test_unmentioned_function)
{
	CHECK_STARTS(two, NO_ENTRY, none,
		     "0: rsp+8\n1: rsp+16\n5: rsp+32\n9: rsp+16\n10: rsp+8\n"
		     "18: rsp+16\n19: rsp+24\n20: rsp+16\n22: rsp+8\n");
}

/* The call at the end does not return, and the next function is called from somewhere. */
CODE(last_call, "sub $24,%rsp\n test %edi,%edi\n je 1f\n add $24,%rsp\n ret\n"
		"1: call .+4096\n push %rbx\n mov %rdi,%rbx\n pop %rbx\n ret");

CASE(test_function_behind_last_call)
{
	static const struct code_start starts[] = {{0, CODE_START_NAMED}, {18, CODE_START_CALLED}};

	CHECK_STARTS(
		last_call, NO_ENTRY, starts,
		"0: rsp+8\n4: rsp+32\n12: rsp+8\n13: rsp+32\n18: rsp+8\n19: rsp+16\n23: rsp+8\n");
}

/* What looks like a call of the code behind another call is none: the code is reached before. */
CODE(call_inside,
     "sub $24,%rsp\n test %edi,%edi\n je 1f\n call .+4096\n 1: mov %rax,%rdi\n add $24,%rsp\n ret");

CASE(test_false_start)
{
	static const struct code_start starts[] = {{0, CODE_START_NAMED}, {13, CODE_START_CALLED}};

	CHECK_STARTS(call_inside, NO_ENTRY, starts, "0: rsp+8\n4: rsp+32\n20: rsp+8\n");
}

/* A function that never returns is accepted where a symbol is, but not as an unknown piece. */
CODE(endless, "push %rbx\n 1: call .+4096\n jmp 1b\n nopl (%rax)\n"
	      "push %rbx\n 1: call .+4096\n jmp 1b");

CASE(test_function_without_end)
{
	static const struct code_start starts[] = {{0, CODE_START_NAMED}};

	CHECK_STARTS(endless, NO_ENTRY, starts, "0: rsp+8\n1: rsp+16\n8: unknown\n");
}

/* A cold part, which jumps back into its function elsewhere, looks like a called thunk. */
CODE(cold, "mov $1,%edi\n call .+4096\n jmp .+0x4000");

CASE(test_cold_part)
{
	static const struct code_start starts[] = {{0, CODE_START_MENTIONED}};

	CHECK_STARTS(cold, NO_ENTRY, starts, "0: unknown\n");
}

/* The same with a jump to a function is a tail call. */
CASE(test_tail_call)
{
	static const struct code_start starts[] = {{10 + 0x4000, CODE_START_NAMED}};

	CHECK_STARTS(cold, NO_ENTRY, starts, "0: rsp+8\n");
}

/* The cases of a switch, with an indirect jump back to the dispatch, as an interpreter has them. */
CODE(cases, "sub $40,%rsp\n jmp *%rax\n inc %edi\n jmp *(%rcx,%rdi,8)\n inc %esi\n add $40,%rsp\n"
	    "ret\n dec %edi\n jmp *(%rcx,%rdi,8)");

CASE(test_cases)
{
	static const struct code_start starts[] = {{0, CODE_START_NAMED},
						   {6, CODE_START_MENTIONED}};

	CHECK_STARTS(cases, NO_ENTRY, starts,
		     "0: rsp+8\n4: rsp+48\n6: unknown\n11: rsp+48\n17: rsp+8\n18: unknown\n");
}

/* A return that does not find its address proves that the start is none. */
CODE(unbalanced, "push %rbx\n test %edi,%edi\n je 1f\n pop %rbx\n 1: ret");

CASE(test_unbalanced)
{
	static const struct code_start starts[] = {{0, CODE_START_NAMED}};

	CHECK_STARTS(unbalanced, NO_ENTRY, starts, "0: unknown\n6: rsp+8\n");
}

/* The program's entry has no caller; what it calls has one. */
CODE(start, "xor %ebp,%ebp\n mov %rsp,%rdi\n and $-16,%rsp\n call 1f\n"
	    "1: sub $24,%rsp\n call .+4096\n add $24,%rsp\n ret");

CASE(test_entry)
{
	static const struct code_start starts[] = {{14, CODE_START_CALLED}};

	CHECK_STARTS(start, ADDRESS, starts, "0: root\n14: rsp+8\n18: rsp+32\n27: rsp+8\n");
}

CASE(test_sizes)
{
	struct code_starts starts = {0};
	struct unwind_rows rows = {0};
	uint8_t *code = calloc(1, CODE_FUNCTIONS_BYTES_MAX + 1);

	assert_non_null(code);
	assert_int_equal(code_functions(code, 0, ADDRESS, &starts, &rows), -EINVAL);
	assert_int_equal(
		code_functions(code, CODE_FUNCTIONS_BYTES_MAX + 1, ADDRESS, &starts, &rows),
		-EINVAL);
	free(code);
}

/* Jumps over each other, each of which a trial follows to the end. */
CASE(test_work_is_bounded)
{
	struct code_starts starts = {.low = ADDRESS, .high = ADDRESS + CODE_FUNCTIONS_BYTES_MAX};
	uint8_t *code = malloc(CODE_FUNCTIONS_BYTES_MAX);
	struct unwind_rows rows = {0};

	assert_non_null(code);
	for (size_t i = 0; i < CODE_FUNCTIONS_BYTES_MAX; i++)
		code[i] = i % 3 ? 0x50 : 0x75; /* push %rax; jne */
	assert_int_equal(code_functions(code, CODE_FUNCTIONS_BYTES_MAX, ADDRESS, &starts, &rows),
			 0);
	assert_true(rows.rows.size > 0);
	unwind_rows_deinit(&rows);
	free(code);
}
