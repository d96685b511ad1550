/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The calls that the assembler makes, and what only looks like one. */
#include <stdint.h>

#include <errno.h>
#include <string.h>

#include "bpf/call_site.h"
#include "decode/x86/call_site.h"
#include "tests/unit/cases.h"

/* Assembled code, which is never executed. */
#define CALL(name, text)                                                                           \
	extern const uint8_t name##_begin[], name##_end[];                                         \
	__asm__(".pushsection .rodata\n" #name "_begin:\npush %rbx\n" text "\n" #name              \
		"_end:\n.popsection")

/* `end` is where the function returns to that the code calls. */
#define THUNK(name, before, behind)                                                                \
	extern const uint8_t name##_begin[], name##_end[];                                         \
	__asm__(".pushsection .rodata\n" #name "_begin:\n" before "\n" #name "_end:\n" behind      \
		"\n.skip 8\n.popsection")

CALL(relative, "call . + 0x1234");
CALL(by_register, "call *%rax");
CALL(by_high_register, "call *%r11");
CALL(by_memory, "call *(%rax)");
CALL(by_byte, "call *0x40(%rax)");
CALL(by_word, "call *0x4000(%r12)");
CALL(by_rip, "call *0x40(%rip)");
CALL(by_stack, "call *(%rsp)");
CALL(by_stack_byte, "call *8(%rsp)");
CALL(by_index, "call *0x4000(%rax,%rbx,8)");
CALL(by_scaled, "call *0x4000(,%rbx,8)");
CALL(jump, "jmp *%rax");
CALL(move, "mov $0x12345678, %eax\nadd %rax, %rbx\nnop");
CALL(cut_short, ".byte 0xff, 0x50"); /* without its displacement */

/* Thunks, the first two as CPython 3.12 and 3.14 make them, and what only looks like one. */
THUNK(trampoline, "sub $8, %rsp\ncall *%rcx", "add $8, %rsp\nret");
THUNK(trampoline_with_frame, "push %rbp\nmov %rsp, %rbp\ncall *%rcx", "pop %rbp\nret");
THUNK(thunk_of_more, "sub $0x78, %rsp\ncall *%rax", "add $0x78, %rsp\nret");
THUNK(other_size, "sub $8, %rsp\ncall *%rcx", "add $16, %rsp\nret");
THUNK(odd_size, "sub $7, %rsp\ncall *%rcx", "add $7, %rsp\nret");
THUNK(no_return, "sub $8, %rsp\ncall *%rcx", "add $8, %rsp\nnop");
THUNK(no_entry, "nop\nnop\nnop\nnop\ncall *%rcx", "add $8, %rsp\nret");
THUNK(other_end, "push %rbp\nmov %rsp, %rbp\ncall *%rcx", "add $8, %rsp\nret");
THUNK(tail_jump, "sub $8, %rsp\njmp *%rcx", "add $8, %rsp\nret");

static uint32_t thunk(const uint8_t *begin, const uint8_t *at)
{
	uint64_t before = 0, behind;

	assert_int_equal(at - begin, CALL_SITE_THUNK_BYTES);
	memcpy(&before, begin, CALL_SITE_THUNK_BYTES);
	memcpy(&behind, at, sizeof(behind));
	return call_site_thunk(before, behind);
}

CASE(test_thunks)
{
#define THUNK_IS(name, frame) assert_int_equal(thunk(name##_begin, name##_end), frame)
	THUNK_IS(trampoline, 8);
	THUNK_IS(trampoline_with_frame, 8 | CALL_SITE_SAVES_RBP);
	THUNK_IS(thunk_of_more, 0x78);
	THUNK_IS(other_size, 0);
	THUNK_IS(odd_size, 0);
	THUNK_IS(no_return, 0);
	THUNK_IS(no_entry, 0);
	THUNK_IS(other_end, 0);
	THUNK_IS(tail_jump, 0);
}

static bool is_call(const uint8_t *begin, const uint8_t *end)
{
	return code_can_end_with_call(begin, end - begin);
}

CASE(test_calls)
{
#define IS_CALL(name) assert_true(is_call(name##_begin, name##_end))
	IS_CALL(relative);
	IS_CALL(by_register);
	IS_CALL(by_high_register);
	IS_CALL(by_memory);
	IS_CALL(by_byte);
	IS_CALL(by_word);
	IS_CALL(by_rip);
	IS_CALL(by_stack);
	IS_CALL(by_stack_byte);
	IS_CALL(by_index);
	IS_CALL(by_scaled);
}

CASE(test_others)
{
#define IS_NO_CALL(name) assert_false(is_call(name##_begin, name##_end))
	IS_NO_CALL(jump);
	IS_NO_CALL(move);
	IS_NO_CALL(cut_short);
}

/* Inside of a call, and with fewer bytes than it has. */
CASE(test_short)
{
	for (size_t i = 1; i < (size_t)(relative_end - relative_begin); i++)
		assert_false(is_call(relative_begin, relative_begin + i));
	for (size_t i = 1; i < (size_t)(by_index_end - by_index_begin); i++)
		assert_int_equal(is_call(by_index_end - i, by_index_end), i >= 7);
	assert_false(code_can_end_with_call(NULL, 0));
}

CALL(signal_return, "mov $15, %rax\nsyscall");
CALL(narrow_signal_return, ".code32\nmov $173, %eax\nint $0x80\n.code64");
CALL(old_signal_return, ".code32\npop %eax\nmov $119, %eax\nint $0x80\n.code64");
CALL(other_system_call, "mov $14, %rax\nsyscall");

/* Each piece of code begins with a byte before the place to return to. */
static bool can_return_behind_push(const uint8_t *begin, const uint8_t *end)
{
	struct blob blob = blob_of_memory(begin, end - begin);
	bool can = false;

	assert_int_equal(code_can_return_to(&blob, 1, &can), 0);
	return can;
}

CASE(test_signal_returns)
{
	assert_true(can_return_behind_push(signal_return_begin, signal_return_end));
	assert_true(can_return_behind_push(narrow_signal_return_begin, narrow_signal_return_end));
	assert_true(can_return_behind_push(old_signal_return_begin, old_signal_return_end));
	assert_false(can_return_behind_push(other_system_call_begin, other_system_call_end));
	/* The file ends before the system call. */
	assert_false(can_return_behind_push(signal_return_begin, signal_return_begin + 8));
}

/* The start of code behind padding, which a virtual machine has returns lead to. */
CASE(test_start_behind_padding)
{
	uint8_t code[97] = {[31] = 0xcc, [47] = 0xcc, [63] = 0x90, [94] = 0xcc, [95] = 0xcc};
	struct blob blob = blob_of_memory(code, sizeof(code));

	for (uint64_t i = 0; i < sizeof(code); i++) {
		bool can;

		assert_int_equal(code_can_return_to(&blob, i, &can), 0);
		assert_int_equal(can, i == 32 || i == 96);
	}
}

/* At both ends of a file, too. */
CASE(test_returns_in_files)
{
	size_t size_bytes = by_index_end - by_index_begin;
	struct blob blob = blob_of_memory(by_index_begin, size_bytes);
	bool can;

	for (size_t i = 0; i <= size_bytes; i++) {
		assert_int_equal(code_can_return_to(&blob, i, &can), 0);
		assert_int_equal(can, i == size_bytes);
	}
	can = true;
	assert_int_equal(code_can_return_to(&blob, size_bytes + 1, &can), -EBADMSG);
	assert_int_equal(code_can_return_to(&blob, UINT64_MAX, &can), -EBADMSG);
	assert_true(can);
}
