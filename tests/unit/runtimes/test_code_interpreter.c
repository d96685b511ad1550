/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "base/scope.h"
#include "runtimes/code_interpreter.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/x86/assembled.h"

#define ADDRESS 0x7f0000001000

/* Checks the rows of a copy that ends where the code does, so that sanitizers see reads behind. */
static void check_rows(const uint8_t *begin, size_t size_bytes, const char *expected)
{
	AUTO_FREE uint8_t *code = malloc(size_bytes);
	struct unwind_rows rows = {0};

	assert_non_null(code);
	memcpy(code, begin, size_bytes);
	assert_int_equal(code_interpreter(code, size_bytes, ADDRESS, &rows), 0);
	check_text(&rows, expected);
}

#define CHECK_ROWS(name, expected) check_rows(name##_begin, name##_end - name##_begin, expected)

/* The code of a bytecode; the header of a method's entry; the entry; and the code behind it. */
CODE(entry, "jmp *(%r10,%rbx,8)\n"
	    ".org entry_begin + 64\n"
	    "movzwl 0x2c(%rdx), %ecx\n" /* 64 */
	    "pop %rax\n"		/* 68 */
	    "lea -8(%rsp,%rcx,8), %r14\n"
	    "1: push $0\n" /* 74 */
	    "dec %edx\n"
	    "jg 1b\n"
	    "push %rax\n"	       /* 80 */
	    "push %rbp\n"	       /* 81 */
	    ".byte 0x48, 0x8b, 0xec\n" /* mov %rsp, %rbp */
	    "push %r13\n"	       /* 85 */
	    "push $0\n"
	    "jmp *(%r10,%rbx,8)");

CASE(test_entry)
{
	CHECK_ROWS(entry, "0: interpreter\n"
			  "64: rsp+8\n"
			  "69: unknown\n"
			  "81: rsp+8\n"
			  "82: rsp+16 rbp-16\n"
			  "85: rbp+16 rbp-16\n"
			  "87: interpreter\n");
}

/* A frame is set up where no piece begins. */
CODE(inside, "nop\n"
	     "push %rbp\n"
	     ".byte 0x48, 0x8b, 0xec\n"
	     "push %r13\n"
	     "nop");

CASE(test_inside)
{
	CHECK_ROWS(inside, "0: interpreter\n"
			   "1: rsp+8\n"
			   "2: rsp+16 rbp-16\n"
			   "5: rbp+16 rbp-16\n"
			   "7: interpreter\n");
}

/* The return of a method; and a return whose jump is not found. */
CODE(returns, "mov -8(%rbp), %rbx\n"
	      "leave\n"			 /* 4 */
	      "pop %rsi\n"		 /* 5 */
	      ".byte 0x48, 0x8b, 0xe3\n" /* 6: mov %rbx, %rsp */
	      "jmp *%rsi\n"		 /* 9 */
	      "nop\n"			 /* 11 */
	      "leave\n"
	      "pop %rdx\n"
	      ".byte 0x48, 0x8b, 0xe3\n"
	      "nop\n"); /* 17 */

CASE(test_returns)
{
	CHECK_ROWS(returns, "0: interpreter\n"
			    "5: rsp+8\n"
			    "6: unknown\n"
			    "11: interpreter\n"
			    "13: rsp+8\n"
			    "14: unknown\n"
			    "17: interpreter\n");
}

CASE(test_ends)
{
	struct unwind_rows rows = {0};

	for (size_t size_bytes = 1; size_bytes <= 7; size_bytes++)
		check_rows(inside_begin, size_bytes, "0: interpreter\n");
	for (size_t size_bytes = 1; size_bytes <= 9; size_bytes++)
		check_rows(returns_begin, size_bytes, "0: interpreter\n");
	assert_int_equal(code_interpreter(inside_begin, 0, ADDRESS, &rows), -EINVAL);
	assert_int_equal(rows.rows.size, 0);
}
