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
		cmocka_unit_test(test_equal),	  cmocka_unit_test(test_branches),
		cmocka_unit_test(test_constants), cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_tables),	  cmocka_unit_test(test_words),
		cmocka_unit_test(test_patches),	  cmocka_unit_test(test_prologue),
		cmocka_unit_test(test_java),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
