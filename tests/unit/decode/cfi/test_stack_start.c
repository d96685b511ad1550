/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Code at which stacks begin, as in the libraries of Debian 12. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "decode/cfi/stack_start.h"
#include "tests/unit/cases.h"

static const uint8_t context_of_glibc[] = {
	0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85, 0xff, 0x74, 0x08, 0xe8,
	0x0f, 0xf6, 0xfe, 0xff, 0x48, 0x89, 0xc7, 0xe8, 0xa7, 0xcc, 0xfe, 0xff, 0xf4,
};
static const uint8_t context_of_boost[] = {
	0xff, 0xe3, 0x48, 0x31, 0xff, 0xe8, 0x49, 0xfe, 0xff, 0xff, 0xf4,
};
static const uint8_t thread_of_musl[] = {
	0x31, 0xed, 0x5f, 0x41, 0xff, 0xd1, 0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05, 0xf4,
};

/* Code of other functions: no byte of a pattern. */
static uint8_t code[256];

static int setup(void **state)
{
	memset(code, 0x90, sizeof(code));
	return 0;
}

static void assert_found(size_t from, size_t start, size_t end)
{
	struct stack_start found;

	assert_true(stack_start_find(code, sizeof(code), from, &found));
	assert_int_equal(found.start, start);
	assert_int_equal(found.end, end);
}

static void assert_none(size_t from)
{
	struct stack_start found;

	assert_false(stack_start_find(code, sizeof(code), from, &found));
}

CASE_WITH(test_patterns, setup, NULL)
{
	assert_none(0);
	memcpy(code + 32, context_of_boost, sizeof(context_of_boost));
	memcpy(code + 64, context_of_glibc, sizeof(context_of_glibc));
	memcpy(code + 128, thread_of_musl, sizeof(thread_of_musl));
	assert_found(0, 32, 32 + sizeof(context_of_boost));
	/* The byte before it is looked up for the frame that returns there. */
	assert_found(33, 63, 64 + sizeof(context_of_glibc));
	assert_found(65, 128, 128 + sizeof(thread_of_musl));
	assert_none(129);
}

/* The instruction before a context's end has rows of its own. */
CASE_WITH(test_function_that_ends_before, setup, NULL)
{
	code[63] = 0xc3;
	memcpy(code + 64, context_of_glibc, sizeof(context_of_glibc));
	assert_found(0, 64, 64 + sizeof(context_of_glibc));
}

CASE_WITH(test_code_that_differs, setup, NULL)
{
	for (size_t i = 0; i < sizeof(context_of_boost); i++) {
		setup(state);
		memcpy(code + 32, context_of_boost, sizeof(context_of_boost));
		code[32 + i] ^= 0x40;
		if (i >= 6 && i < 10) /* the distance of the call */
			assert_found(0, 32, 32 + sizeof(context_of_boost));
		else
			assert_none(0);
	}
	setup(state);
	memcpy(code + 32, context_of_glibc, sizeof(context_of_glibc) - 1); /* without hlt */
	assert_none(0);
}

/* No byte behind the code is read: a copy of the exact size is searched. */
CASE_WITH(test_truncated, setup, NULL)
{
	for (size_t size = 0; size <= sizeof(context_of_glibc); size++) {
		AUTO_FREE uint8_t *copy = malloc(size + 1);
		struct stack_start found;

		assert_non_null(copy);
		memcpy(copy, context_of_glibc, size);
		assert_int_equal(stack_start_find(copy, size, 0, &found),
				 size == sizeof(context_of_glibc));
	}
}

CASE(test_entry)
{
	static const uint8_t musl[] = {0x48, 0x31, 0xed, 0x48, 0x89, 0xe7, 0x48, 0x8d,
				       0x35, 0xc5, 0x45, 0x03, 0x00, 0x48, 0x83, 0xe4,
				       0xf0, 0xe8, 0xdc, 0xa3, 0xff, 0xff};
	static const uint8_t glibc[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x31, 0xed, 0x49, 0x89,
					0xd1, 0x5e, 0x48, 0x89, 0xe2, 0x48, 0x83, 0xe4,
					0xf0, 0x50, 0x54, 0x45, 0x31, 0xc0, 0x31, 0xc9,
					0xff, 0x15, 0xa3, 0x2f, 0x00, 0x00, 0xf4};
	static const uint8_t library[] = {0x48, 0x8d, 0x3d, 0xc1, 0x2f, 0x00, 0x00, 0x48, 0x8d,
					  0x05, 0xba, 0x2f, 0x00, 0x00, 0x48, 0x39, 0xf8, 0x74};

	assert_int_equal(stack_start_of_entry(musl, sizeof(musl), false), sizeof(musl));
	assert_int_equal(stack_start_of_entry(glibc, sizeof(glibc), false), sizeof(glibc) - 1);
	assert_int_equal(stack_start_of_entry(library, sizeof(library), false), 0);
	for (size_t size = 0; size < sizeof(musl) - 1; size++) {
		AUTO_FREE uint8_t *copy = malloc(size + 1);

		assert_non_null(copy);
		memcpy(copy, musl, size);
		assert_true(stack_start_of_entry(copy, size, false) <= size + 5);
	}
}
