/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "base/scope.h"
#include "decode/x86/code_extent.h"
#include "tests/unit/cases.h"

/* Assembled code, which is never executed. `name`_end is where the function ends. */
#define CODE(name, text, behind)                                                                   \
	extern const uint8_t name##_begin[], name##_end[], name##_last[];                          \
	__asm__(".pushsection .rodata\n" #name "_begin:\n" text "\n" #name "_end:\n" behind        \
		"\n" #name "_last:\n.popsection")

#define EXTENT(name) extent(name##_begin, name##_last)
#define CHECK(name)  assert_int_equal(EXTENT(name), name##_end - name##_begin)

static size_t extent(const uint8_t *begin, const uint8_t *last)
{
	struct code_decoder decoder;

	assert_int_equal(code_decoder_init(&decoder), 0);
	return code_extent(&decoder, begin, (size_t)(last - begin), 0x401000);
}

#define NEXT "push %rbx\n pop %rbx\n ret"

CODE(straight, "mov %rdi,%rax\n rep movsb\n ret", NEXT);
CODE(branches,
     "test %edi,%edi\n je 1f\n ret\n 1: cmp $1,%edi\n jne 2f\n xor %eax,%eax\n ret\n"
     "2: mov $1,%eax\n ret",
     NEXT);
CODE(jump_back, "1: dec %edi\n jne 2f\n ret\n 2: jmp 1b", NEXT);
CODE(around, "jmp 1f\n 2: ret\n 1: dec %edi\n je 2b\n jmp 2b", NEXT);
CODE(tail_call, "mov %rsi,%rdi\n jmp . + 0x1000", NEXT);
CODE(tail_call_near, "mov %rsi,%rdi\n .byte 0xe9,0x10,0,0,0", NEXT "\n .skip 32, 0x90");
CODE(pointer, "mov (%rdi),%rax\n jmp *%rax", NEXT);
CODE(stop, "call . + 64\n hlt", NEXT);

CODE(start, "xor %ebp,%ebp\n call 1f\n 1:", NEXT);

CASE(test_ends)
{
	CHECK(straight);
	CHECK(branches);
	CHECK(jump_back);
	CHECK(around);
	CHECK(tail_call);
	CHECK(tail_call_near);
	CHECK(pointer);
	CHECK(stop);
	CHECK(start);
}

CODE(endless, "", "inc %eax\n nop\n inc %eax");
CODE(cut, "", "test %edi,%edi\n je .+3\n ret\n .byte 0x48");
CODE(invalid, "", ".byte 6\n ret");

CASE(test_no_end)
{
	CHECK(endless);
	CHECK(cut);
	CHECK(invalid);
}
