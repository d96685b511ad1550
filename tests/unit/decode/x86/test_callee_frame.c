/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "base/scope.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/x86/assembled.h"

/* V8's baseline code: a builtin makes the frame, and the code leaves it by a jump to another one.
 */
CODE(baseline, "mov $0x28,%ebx\n movabs $0x1bdb688ccc41,%r12\n call 1f+4096\n"
	       "1: push %rax\n push %rax\n mov 0x18(%rbp),%rdx\n xor %ebx,%ebx\n call 1b+8192\n"
	       "mov %rax,-0x30(%rbp)\n push -0x30(%rbp)\n call 1b+8192\n test %eax,%eax\n je 2f\n"
	       "mov $1,%ebx\n jmp 1b+4096\n 2: mov $2,%ebx\n jmp 1b+4096");

CASE(test_prologue_in_a_callee)
{
	CHECK(baseline, "0: rsp+8\n20: unknown\n");
}

/* Without registers of the bytecode, and rsp seems to be as at the entry at the end. */
CODE(short_one, "mov $0x28,%ebx\n call 1f+4096\n 1: mov -0x10(%rbp),%rdx\n jmp 1b+4096");

CASE(test_no_pushes)
{
	CHECK(short_one, "0: rsp+8\n10: unknown\n");
}

/* The epilogue is in the code itself, and removes the arguments. */
CODE(own_epilogue, "call 1f+4096\n 1: push %rax\n mov %rdi,-8(%rbp)\n mov -16(%rbp),%rcx\n leave\n"
		   "pop %rdx\n lea (%rsp,%rcx,8),%rsp\n push %rdx\n ret");

CASE(test_epilogue)
{
	CHECK(own_epilogue, "0: rsp+8\n5: unknown\n");
}

/* A switch in such code: its cases have the frame, too. */
CODE(cases, "call 1f+4096\n 1: push %rax\n mov -8(%rbp),%rax\n jmp *(%rax)\n"
	    "mov $1,%eax\n jmp 1b+4096\n push %rbx\n pop %rbx\n jmp 1b+4096");

CASE(test_cases)
{
	CHECK(cases, "0: rsp+8\n5: unknown\n");
}

/* A helper reads a variable of its caller's frame, and returns: its own rules hold. */
CODE(helper, "sub $8,%rsp\n call 1f+4096\n 1: add $8,%rsp\n mov 16(%rbp),%rax\n ret");
CODE(plain_helper, "call 1f+4096\n 1: mov 16(%rbp),%rax\n ret");

/* A piece of another function uses that one's frame from the start. */
CODE(piece, "mov -8(%rbp),%rax\n call 1f+4096\n 1: mov %rax,-8(%rbp)\n jmp 1b+4096");

/* The frame is made by the code itself, or rbp is saved and is a usual register. */
CODE(own, "call 1f+4096\n 1: push %rbp\n mov %rsp,%rbp\n mov 16(%rbp),%rax\n jmp 1b+4096");
CODE(usual, "push %rbp\n call 1f+4096\n 1: mov %rax,%rbp\n mov 16(%rbp),%rax\n jmp 1b+4096");

/* The first call is not at the height of the entry: it is an argument's. */
CODE(argument, "push %rax\n call 1f+4096\n 1: pop %rax\n mov 16(%rbp),%rax\n jmp 1b+4096");

CASE(test_other_code)
{
	CHECK(helper, "0: rsp+8\n4: rsp+16\n13: rsp+8\n");
	CHECK(plain_helper, "0: rsp+8\n");
	CHECK(piece, "0: rsp+8\n");
	CHECK(own, "0: rsp+8\n6: rsp+16 rbp-16\n9: rbp+16 rbp-16\n");
	CHECK(usual, "0: rsp+8\n1: rsp+16 rbp-16\n");
	CHECK(argument, "0: rsp+8\n1: rsp+16\n7: rsp+8\n");
}

/* Code in the frame of an interpreter, and code of methods with one frame, have rules of their own.
 */
CASE(test_other_entries)
{
	struct code_entry inside = {
		.cfa = UNWIND_CFA(UNWIND_CFA_RSP, 64), .rbp = -2, .inside = true};
	struct code_entry one_frame = code_entry_called;

	one_frame.one_frame = true;
	check_entry(short_one_begin, short_one_end, &inside, "0: rsp+64 rbp-16\n");
	check_entry(short_one_begin, short_one_end, &one_frame, "0: rsp+8\n");
}
