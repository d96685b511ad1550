/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "decode/x86/code_compare.h"

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

/* The copies have exactly their size, so that sanitizers detect reads beyond it. */
static bool compare_as(const uint8_t *was, size_t was_bytes, const uint8_t *is, size_t is_bytes,
		       bool objects_move)
{
	uint8_t *a = malloc(was_bytes), *b = malloc(is_bytes);
	const struct code_pair pair = {a, b, was_bytes, objects_move};
	bool same;

	assert_int_equal(was_bytes, is_bytes);
	assert_non_null(a);
	assert_non_null(b);
	memcpy(a, was, was_bytes);
	memcpy(b, is, is_bytes);
	same = code_is_same(&pair);
	free(a);
	free(b);
	return same;
}

static bool compare(const uint8_t *was, size_t was_bytes, const uint8_t *is, size_t is_bytes)
{
	return compare_as(was, was_bytes, is, is_bytes, false);
}

/* Where objects move: in code of HotSpot. */
static bool compare_java(const uint8_t *was, size_t was_bytes, const uint8_t *is, size_t is_bytes)
{
	bool same = compare_as(was, was_bytes, is, is_bytes, true);

	assert_false(compare(was, was_bytes, is, is_bytes));
	return same;
}

static void test_equal(void **state)
{
	(void)state;
	assert_true(
		compare(BYTES(0x55, 0x48, 0x89, 0xe5, 0xc3), BYTES(0x55, 0x48, 0x89, 0xe5, 0xc3)));
	/* No valid instruction. */
	assert_true(compare(BYTES(0x06, 0x06), BYTES(0x06, 0x06)));
}

static void test_branches(void **state)
{
	(void)state;
	assert_true(
		compare(BYTES(0x90, 0xe9, 0, 0, 0, 0, 0xc3), BYTES(0x90, 0xe9, 4, 1, 0, 0, 0xc3)));
	assert_true(compare(BYTES(0xe8, 0, 0, 0, 0, 0xc3), BYTES(0xe8, 4, 1, 0xff, 0xff, 0xc3)));
	assert_true(
		compare(BYTES(0x0f, 0x85, 0, 0, 0, 0, 0xc3), BYTES(0x0f, 0x85, 1, 2, 3, 4, 0xc3)));
	assert_true(compare(BYTES(0x75, 2, 0xc3), BYTES(0x75, 6, 0xc3)));
}

static void test_constants(void **state)
{
	(void)state;
	/* imul eax, eax, imm32 */
	assert_false(
		compare(BYTES(0x69, 0xc0, 1, 0, 0, 0, 0xc3), BYTES(0x69, 0xc0, 2, 0, 0, 0, 0xc3)));
	/* mov eax, [rbp + disp32] */
	assert_false(compare(BYTES(0x8b, 0x85, 1, 0, 0, 0), BYTES(0x8b, 0x85, 2, 0, 0, 0)));
	/* mov eax, [rsp + disp8] */
	assert_false(compare(BYTES(0x8b, 0x44, 0x24, 8), BYTES(0x8b, 0x44, 0x24, 16)));
}

static void test_addresses(void **state)
{
	(void)state;
	/* mov eax, [rip + disp32] */
	assert_true(compare(BYTES(0x8b, 0x05, 0, 0, 0, 0), BYTES(0x8b, 0x05, 9, 1, 0, 0)));
	/* mov rax, imm64: an address, and one that was not linked before */
	assert_true(compare(BYTES(0x48, 0xb8, 0, 0x10, 0x20, 0x30, 0x40, 0x7f, 0, 0),
			    BYTES(0x48, 0xb8, 8, 0x10, 0x20, 0x30, 0x41, 0x7f, 0, 0)));
	assert_true(compare(BYTES(0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0),
			    BYTES(0x48, 0xb8, 8, 0x10, 0x20, 0x30, 0x41, 0x7f, 0, 0)));
	/* In a program that is not position-independent. */
	assert_true(compare(BYTES(0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0),
			    BYTES(0x48, 0xb8, 0xc0, 0x7e, 0x54, 0, 0, 0, 0, 0)));
	assert_false(compare(BYTES(0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0),
			     BYTES(0x48, 0xb8, 0xff, 0xff, 0, 0, 0, 0, 0, 0)));
	assert_false(compare(BYTES(0x48, 0xb8, 0xc0, 0x10, 0x55, 0, 0, 0, 0, 0),
			     BYTES(0x48, 0xb8, 0xc0, 0x10, 0x54, 0, 0, 0, 0, 0)));
	/* A constant. */
	assert_false(compare(BYTES(0x48, 0xb8, 1, 0, 0, 0, 0, 0, 0, 0),
			     BYTES(0x48, 0xb8, 2, 0, 0, 0, 0, 0, 0, 0)));
	assert_false(compare(BYTES(0x48, 0xb8, 1, 0, 0, 0, 0, 'i', 't', 'j'),
			     BYTES(0x48, 0xb8, 2, 0, 0, 0, 0, 'i', 't', 'j')));
}

/* HotSpot: a call site's cached class, and objects that the garbage collector moves. */
static void test_java(void **state)
{
	(void)state;
	/* mov rax, imm64: none, and a class */
	assert_true(compare_java(
		BYTES(0x48, 0xb8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xe8, 0, 1, 2, 3),
		BYTES(0x48, 0xb8, 0x50, 0x14, 0x01, 0x8c, 0xcd, 0x7f, 0, 0, 0xe8, 4, 1, 2, 3)));
	assert_true(compare_java(
		BYTES(0x48, 0xb8, 0x50, 0x14, 0x01, 0x8c, 0xcd, 0x7f, 0, 0, 0xe8, 4, 1, 2, 3),
		BYTES(0x48, 0xb8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xe8, 0, 1, 2,
		      3)));
	assert_false(compare_java(
		BYTES(0x48, 0xb8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc3),
		BYTES(0x48, 0xb8, 1, 0, 0, 0, 0, 0, 0, 0, 0xc3)));
	/* A sample saw the last, or the first bytes of the word. */
	assert_true(compare_java(
		BYTES(0x48, 0xb8, 0x50, 0x14, 0x01, 0x8c, 0xcd, 0x7f, 0, 0, 0xc3),
		BYTES(0x48, 0xb8, 0x50, 0x14, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc3)));
	assert_true(compare_java(
		BYTES(0x48, 0xb8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc3),
		BYTES(0x48, 0xb8, 0x50, 0x14, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc3)));
	assert_false(compare_java(
		BYTES(0x48, 0xb8, 0x50, 0x14, 0x01, 0x8c, 0xcd, 0x7f, 0, 0, 0xc3),
		BYTES(0x48, 0xb8, 0x50, 0x14, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc3)));
	/* cmp dword [r15 + 0x20], imm32; but not more than a few */
	assert_true(compare_java(BYTES(0x55, 0x41, 0x81, 0x7f, 0x20, 3, 0, 0, 0, 0xc3),
				 BYTES(0x55, 0x41, 0x81, 0x7f, 0x20, 4, 0, 0, 0, 0xc3)));
	assert_false(compare_java(
		BYTES(0x41, 0x81, 0x7f, 0x20, 3, 0, 0, 0, 0x41, 0x81, 0x7f, 0x20, 3, 0, 0, 0),
		BYTES(0x41, 0x81, 0x7f, 0x20, 4, 0, 0, 0, 0x41, 0x81, 0x7f, 0x20, 4, 0, 0, 0)));
	/* cmp r8d, imm32; mov eax, imm32 */
	assert_true(compare_java(BYTES(0x41, 0x81, 0xf8, 0x6a, 0x00, 0x08, 0xd1, 0xc3),
				 BYTES(0x41, 0x81, 0xf8, 0x9c, 0x17, 0xeb, 0xd0, 0xc3)));
	assert_true(compare_java(BYTES(0xb8, 0x6a, 0x00, 0x08, 0xd1), BYTES(0xb8, 9, 0, 9, 0xd1)));
	/* mov eax, imm32: numbers */
	assert_false(compare_java(BYTES(0xb8, 9, 0, 0, 0), BYTES(0xb8, 8, 0, 0, 0)));
	assert_false(compare_java(BYTES(0xb8, 0xfe, 0xff, 0xff, 0xff), BYTES(0xb8, 9, 0, 9, 0xd1)));
	/* imul eax, eax, imm32 */
	assert_false(
		compare_java(BYTES(0x69, 0xc0, 1, 0, 0, 0xd1), BYTES(0x69, 0xc0, 2, 0, 0, 0xd1)));
	/* cmp dword [rsi + 8], imm32: a class */
	assert_false(compare_java(BYTES(0x81, 0x7e, 8, 1, 0, 0xd1, 0, 0xc3),
				  BYTES(0x81, 0x7e, 8, 2, 0, 0xd1, 0, 0xc3)));
}

/* HotSpot: words of call sites of which samples saw one end each. */
static void test_java_words(void **state)
{
	(void)state;
	/* mov rax, imm64; call: the first byte of a class, and ones */
	assert_true(compare_java(
		BYTES(0x48, 0xb8, 0x48, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xe8, 4, 1, 2, 3),
		BYTES(0x48, 0xb8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xe8, 4, 1, 2,
		      3)));
	assert_true(compare_java(
		BYTES(0x48, 0xb8, 0x48, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xe8, 4, 1, 2, 3),
		BYTES(0x48, 0xb8, 0x50, 0x14, 0x01, 0x8c, 0xcd, 0x7f, 0, 0, 0xe8, 4, 1, 2, 3)));
	/* Without a call, and of another register: a constant. */
	assert_false(compare_java(
		BYTES(0x48, 0xb8, 0x48, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc3),
		BYTES(0x48, 0xb8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc3)));
	assert_false(compare_java(
		BYTES(0x48, 0xb9, 0x48, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xe8, 4, 1, 2, 3),
		BYTES(0x48, 0xb9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xe8, 4, 1, 2,
		      3)));
	/* mov rbx, imm64; jmp: a callee, and none */
	assert_true(compare_java(
		BYTES(0x48, 0xbb, 0x40, 0x91, 0x21, 0x4f, 0xe5, 0x7f, 0, 0, 0xe9, 4, 1, 2, 3),
		BYTES(0x48, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0xe9, 4, 1, 2, 3)));
	assert_true(compare_java(
		BYTES(0x48, 0xbb, 0x40, 0x91, 0, 0, 0, 0, 0, 0, 0xe9, 4, 1, 2, 3),
		BYTES(0x48, 0xbb, 0x40, 0x91, 0x21, 0x4f, 0xe5, 0x7f, 0, 0, 0xe9, 4, 1, 2, 3)));
	assert_false(compare_java(
		BYTES(0x48, 0xbb, 0x40, 0x91, 0x21, 0x4f, 0xe5, 0x7f, 0, 0, 0xe8, 4, 1, 2, 3),
		BYTES(0x48, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0xe8, 4, 1, 2, 3)));
	assert_false(compare_java(
		BYTES(0x48, 0xb9, 0x40, 0x91, 0x21, 0x4f, 0xe5, 0x7f, 0, 0, 0xe9, 4, 1, 2, 3),
		BYTES(0x48, 0xb9, 0, 0, 0, 0, 0, 0, 0, 0, 0xe9, 4, 1, 2, 3)));
	assert_false(compare_java(
		BYTES(0x48, 0xbb, 0x40, 0x91, 0x21, 0x4f, 0xe5, 0x7f, 0, 1, 0xe9, 4, 1, 2, 3),
		BYTES(0x48, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0xe9, 4, 1, 2, 3)));
}

/* The instructions of ZGC's barriers, with two bytes of a mask or a shift each. */
#define TEST_MEMORY(a, b)   0xf7, 0x46, 0x40, a, b, 0, 0       /* test dword [rsi + 64], imm32 */
#define TEST_REGISTER(a, b) 0x41, 0xf7, 0xc3, a, b, 0, 0       /* test r11d, imm32 */
#define OR(a, b)	    0x49, 0x81, 0xc9, a, b, 0, 0       /* or r9, imm32 */
#define SHIFT_LEFT(n)	    0x49, 0xc1, 0xe1, n		       /* shl r9, imm8 */
#define SHIFT_RIGHT(n)	    0x49, 0xc1, 0xea, n		       /* shr r10, imm8 */
#define MOVE(a, b)	    0x48, 0xc7, 0x46, 0x40, a, b, 0, 0 /* mov qword [rsi + 64], imm32 */
#define COMPARE(a, b)	    0x66, 0x41, 0x81, 0x78, 0x10, a, b /* cmp word [r8 + 16], imm16 */

/* ZGC: the colour of object pointers, as seen on OpenJDK 25. */
static void test_java_colours(void **state)
{
	(void)state;
	assert_true(compare_java(BYTES(TEST_MEMORY(0xe0, 0xea)), BYTES(TEST_MEMORY(0xd0, 0xe5))));
	assert_true(
		compare_java(BYTES(TEST_REGISTER(0xc0, 0xea)), BYTES(TEST_REGISTER(0xc0, 0x75))));
	assert_true(compare_java(BYTES(TEST_REGISTER(0, 0xe0)), BYTES(TEST_REGISTER(0, 0x70))));
	assert_true(compare_java(BYTES(OR(0x10, 0x15)), BYTES(OR(0x20, 0x1a))));
	assert_true(compare_java(BYTES(MOVE(0x10, 0x15)), BYTES(MOVE(0x20, 0x8a))));
	assert_true(compare_java(BYTES(COMPARE(0x10, 0x15)), BYTES(COMPARE(0x20, 0x4a))));
	assert_true(compare_java(BYTES(SHIFT_RIGHT(13)), BYTES(SHIFT_RIGHT(14))));
	/* All of them at once, in one colour; more than a few. */
	assert_true(compare_java(BYTES(SHIFT_RIGHT(13), TEST_MEMORY(0xe0, 0xea), SHIFT_LEFT(13),
				       OR(0x10, 0x15), SHIFT_RIGHT(13)),
				 BYTES(SHIFT_RIGHT(16), TEST_MEMORY(0xd0, 0x75), SHIFT_LEFT(16),
				       OR(0x20, 0x8a), SHIFT_RIGHT(16))));
	/* A sample saw only one byte of the first mask. */
	assert_true(compare_java(BYTES(OR(0x10, 0x15), OR(0x10, 0x15)),
				 BYTES(OR(0x10, 0x8a), OR(0x20, 0x8a))));
	/* The code has the colours of two earlier times. */
	assert_true(compare_java(BYTES(SHIFT_RIGHT(13), SHIFT_RIGHT(14)),
				 BYTES(SHIFT_RIGHT(16), SHIFT_RIGHT(16))));
}

/* Numbers that are no colours, and instructions that no barrier has. */
static void test_java_not_colours(void **state)
{
	(void)state;
	/* Two colours. */
	assert_false(compare_java(BYTES(SHIFT_RIGHT(13), SHIFT_RIGHT(13)),
				  BYTES(SHIFT_RIGHT(14), SHIFT_RIGHT(15))));
	assert_false(compare_java(BYTES(SHIFT_RIGHT(13), OR(0x10, 0x15)),
				  BYTES(SHIFT_RIGHT(14), OR(0x20, 0x8a))));
	assert_false(compare_java(BYTES(TEST_MEMORY(0xe0, 0xea), OR(0x10, 0x15)),
				  BYTES(TEST_MEMORY(0xd0, 0x75), OR(0x20, 0x4a))));
	/* Bits that exclude each other, or that no mask has. */
	assert_false(compare_java(BYTES(OR(0x10, 0x15)), BYTES(OR(0x20, 0x3a))));
	assert_false(compare_java(BYTES(OR(0x10, 0x15)), BYTES(OR(0x30, 0x15))));
	assert_false(compare_java(BYTES(OR(0x10, 0x15)), BYTES(OR(0x11, 0x15))));
	assert_false(compare_java(BYTES(OR(0x10, 0x15)), BYTES(OR(0x20, 0x1c))));
	assert_false(compare_java(BYTES(OR(0, 0x15)), BYTES(OR(0x20, 0x1a))));
	assert_false(compare_java(BYTES(OR(1, 0)), BYTES(OR(2, 0))));
	assert_false(compare_java(BYTES(TEST_MEMORY(1, 0)), BYTES(TEST_MEMORY(2, 0))));
	assert_false(compare_java(BYTES(TEST_MEMORY(0xc0, 0xea)), BYTES(TEST_MEMORY(0xc0, 0x75))));
	assert_false(compare_java(BYTES(TEST_REGISTER(0xc0, 0xea)), BYTES(TEST_REGISTER(0, 0x70))));
	assert_false(compare_java(BYTES(0x49, 0x81, 0xc9, 0x10, 0x15, 0, 0),
				  BYTES(0x49, 0x81, 0xc9, 0x20, 0x1a, 1, 0)));
	assert_false(compare_java(BYTES(SHIFT_RIGHT(13)), BYTES(SHIFT_RIGHT(17))));
	assert_false(compare_java(BYTES(SHIFT_RIGHT(12)), BYTES(SHIFT_RIGHT(13))));
	/* shl r9, imm8 without a colour behind it; shr r10d, imm8; sar r10, imm8 */
	assert_false(compare_java(BYTES(SHIFT_LEFT(13), 0xc3), BYTES(SHIFT_LEFT(14), 0xc3)));
	assert_false(compare_java(BYTES(0x41, 0xc1, 0xea, 13), BYTES(0x41, 0xc1, 0xea, 14)));
	assert_false(compare_java(BYTES(0x49, 0xc1, 0xfa, 13), BYTES(0x49, 0xc1, 0xfa, 14)));
	/* or r9d, imm32; and r9, imm32; mov dword [rsi + 64], imm32; cmp dword [rsi + 8], imm32 */
	assert_false(compare_java(BYTES(0x41, 0x81, 0xc9, 0x10, 0x15, 0, 0),
				  BYTES(0x41, 0x81, 0xc9, 0x20, 0x1a, 0, 0)));
	assert_false(compare_java(BYTES(0x49, 0x81, 0xe1, 0x10, 0x15, 0, 0),
				  BYTES(0x49, 0x81, 0xe1, 0x20, 0x1a, 0, 0)));
	assert_false(compare_java(BYTES(0xc7, 0x46, 0x40, 0x10, 0x15, 0, 0),
				  BYTES(0xc7, 0x46, 0x40, 0x20, 0x1a, 0, 0)));
	assert_false(compare_java(BYTES(0x81, 0x7e, 8, 0x10, 0x15, 0, 0),
				  BYTES(0x81, 0x7e, 8, 0x20, 0x1a, 0, 0)));
	/* The displacement of a barrier. */
	assert_false(compare_java(BYTES(0xf7, 0x46, 0x40, 0xe0, 0xea, 0, 0),
				  BYTES(0xf7, 0x46, 0x41, 0xd0, 0xe5, 0, 0)));
}

#define TABLE(low, low_bytes)                                                                      \
	0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0, 0x10, 0x20, 0x30, 0x40, 0x7f, 0, 0,     \
		low, low_bytes, 0x20, 0x30, 0x40, 0x7f, 0, 0

/* A table of addresses behind the code, which is not aligned with instructions. */
static void test_tables(void **state)
{
	(void)state;
	assert_true(compare(BYTES(TABLE(1, 0x10)), BYTES(TABLE(8, 0x13))));
	/* A word alone may be anything. */
	assert_false(compare(BYTES(0, 0x10, 0x20, 0x30, 0x40, 0x7f, 0, 0),
			     BYTES(8, 0x10, 0x20, 0x30, 0x40, 0x7f, 0, 0)));
	/* The last word is not whole. */
	assert_false(compare(BYTES(0xc3, 1, 2), BYTES(0xc3, 1, 3)));
}

/* Constants of instructions beside each other look like an address. */
static void test_words(void **state)
{
	(void)state;
	/* nop; nop; sub rsp, 8; mov r15, imm64 */
	assert_false(compare(BYTES(0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x48, 0x83, 0xec,
				   8, 0x49, 0xbf, 14, 0, 0, 0, 0, 't', 'i', 'j', 0xc3),
			     BYTES(0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x48, 0x83, 0xec,
				   8, 0x49, 0xbf, 22, 0, 0, 0, 0, 't', 'i', 'j', 0xc3)));
}

/* An instruction becomes a jump, a nop a call; but not all instructions. */
static void test_patches(void **state)
{
	(void)state;
	/* mov [rsp - 0x14000], eax; push rbp; ret */
	assert_true(compare(BYTES(0x89, 0x84, 0x24, 0, 0xc0, 0xfe, 0xff, 0x55, 0xc3),
			    BYTES(0xe9, 1, 2, 3, 4, 0xfe, 0xff, 0x55, 0xc3)));
	assert_true(compare(BYTES(0x0f, 0x1f, 0x44, 0, 0, 0xc3), BYTES(0xe8, 1, 2, 3, 4, 0xc3)));
	assert_false(compare(BYTES(0x55, 0x53, 0x90, 0x90, 0xff, 0xc0, 0xc3),
			     BYTES(0x90, 0x90, 0x90, 0x90, 0xff, 0xc0, 0xc3)));
	assert_false(compare(BYTES(0x89, 0x84, 0x24, 0, 0xc0, 0xfe, 0xff, 0x55, 0xc3),
			     BYTES(0xe9, 1, 2, 3, 4, 0xfe, 0xff, 0x53, 0xc3)));
}

/* Bytes inside of an instruction that look like jumps. */
static void test_inside_instructions(void **state)
{
	(void)state;
	/* mov eax, [rsp + disp8]: je and jne */
	assert_false(
		compare(BYTES(0x8b, 0x44, 0x24, 0x74, 0xc3), BYTES(0x8b, 0x44, 0x24, 0x75, 0xc3)));
	/* imul eax, eax, imm32: 5 nops, a call */
	assert_false(compare(BYTES(0x69, 0xc0, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3),
			     BYTES(0x69, 0xc0, 0xe8, 0x90, 0x90, 0x90, 0x90, 0xc3)));
	/* mov [rip + disp32], imm32: not the address */
	assert_false(compare(BYTES(0xc7, 0x05, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0xc3),
			     BYTES(0xc7, 0x05, 4, 0, 0, 0, 0xe9, 0, 0, 0, 0xc3)));
}

/* Another function, whose prologue is the same. */
static void test_prologue(void **state)
{
	(void)state;
	assert_false(compare(
		BYTES(0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0x31, 0xc0, 0xc9, 0xc3),
		BYTES(0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0xff, 0xc8, 0xc9, 0xc3)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_constants),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_patches),
		cmocka_unit_test(test_prologue),
		cmocka_unit_test(test_java),
		cmocka_unit_test(test_java_words),
		cmocka_unit_test(test_java_colours),
		cmocka_unit_test(test_java_not_colours),
		cmocka_unit_test(test_inside_instructions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
