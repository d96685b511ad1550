/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "decode/cfi/signal_return.h"
#include "tests/unit/cases.h"
#include "uapi/unwind.h"

#define BYTES (80u << 10) /* several read pieces */

static const uint8_t by_rax[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
static const uint8_t by_eax[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};

static int setup(void **state)
{
	*state = malloc(BYTES);
	assert_non_null(*state);
	memset(*state, 0x0f, BYTES);
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void assert_found(const uint8_t *bytes, uint64_t offset, uint64_t end, uint64_t start,
			 uint64_t stop)
{
	struct blob blob = blob_of_memory(bytes, BYTES);
	struct signal_return found;

	assert_int_equal(signal_return_find(&blob, false, offset, end, &found), 0);
	assert_int_equal(found.start, start);
	assert_int_equal(found.end, stop);
	assert_int_equal(signal_return_find(&blob, true, offset, end, &found), 0);
	assert_int_equal(found.start, end);
}

static void assert_narrow(const uint8_t *bytes, uint64_t offset, uint64_t start, uint64_t stop,
			  int context)
{
	struct blob blob = blob_of_memory(bytes, BYTES);
	struct signal_return found;

	assert_int_equal(signal_return_find(&blob, true, offset, BYTES, &found), 0);
	assert_int_equal(found.start, start);
	assert_int_equal(found.end, stop);
	assert_int_equal(found.cfa, UNWIND_NARROW_CFA(UNWIND_NARROW_SIGNAL, context));
}

/* The trampolines of 32-bit code; sigreturn's first instruction moves esp. */
CASE_WITH(test_narrow, setup, teardown)
{
	static const uint8_t old[] = {0x58, 0xb8, 0x77, 0, 0, 0, 0xcd, 0x80},
			     rt[] = {0xb8, 0xad, 0, 0, 0, 0xcd, 0x80, 0x90},
			     other[] = {0xb8, 0x77, 0, 0, 0, 0xcd, 0x80};
	uint8_t *bytes = *state;

	memcpy(bytes + 500, other, sizeof(other));
	memcpy(bytes + 1000, old, sizeof(old));
	memcpy(bytes + 2000, rt, sizeof(rt));
	assert_narrow(bytes, 0, 999, 1001, 4);
	assert_narrow(bytes, 1000, 999, 1001, 4);
	assert_narrow(bytes, 1001, 1001, 1008, 0);
	assert_narrow(bytes, 1007, 1001, 1008, 0);
	assert_narrow(bytes, 1008, 1999, 2008, 160);
}

CASE_WITH(test_nothing, setup, teardown)
{
	assert_found(*state, 0, BYTES, BYTES, BYTES);
	assert_found(*state, 100, 100, 100, 100);
	assert_found(*state, BYTES, 2 * BYTES, 2 * BYTES, 2 * BYTES);
	assert_found(*state, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX);
}

CASE_WITH(test_forms, setup, teardown)
{
	uint8_t *bytes = *state;

	memcpy(bytes + 1000, by_rax, sizeof(by_rax));
	memcpy(bytes + 2000, by_eax, sizeof(by_eax));
	assert_found(bytes, 0, BYTES, 999, 1009);
	assert_found(bytes, 1009, BYTES, 1999, 2007);
	assert_found(bytes, 2007, BYTES, BYTES, BYTES);
	/* Another system call, or another register. */
	bytes[1003]++;
	bytes[2000]++;
	assert_found(bytes, 0, BYTES, BYTES, BYTES);
}

/* The byte behind the system call belongs to the trampoline unless a function may begin there. */
CASE_WITH(test_what_follows, setup, teardown)
{
	static const struct {
		uint8_t code[3];
		bool is_part;
	} cases[] = {
		{{0x90}, true},
		{{0xcc}, true},
		{{0x0f, 0x1f}, true},
		{{0x0f, 0x0b}, true},
		{{0x66, 0x90}, true},
		{{0x66, 0x2e, 0x0f}, true},
		{{0x66, 0x0f, 0x1f}, true},
		{{0x66, 0x0f, 0x6f}, false},
		{{0x55}, false},
		{{0xf3, 0x0f, 0x1e}, false},
		{{0x0f, 0xb6}, false},
	};
	uint8_t *bytes = *state;

	memcpy(bytes + 1000, by_rax, sizeof(by_rax));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		memcpy(bytes + 1009, cases[i].code, sizeof(cases[i].code));
		assert_found(bytes, 0, BYTES, 999, cases[i].is_part ? 1010 : 1009);
		assert_found(bytes, 1009, BYTES, cases[i].is_part ? 999 : BYTES,
			     cases[i].is_part ? 1010 : BYTES);
	}
}

/* One byte in the range suffices, at either end. */
CASE_WITH(test_ends, setup, teardown)
{
	uint8_t *bytes = *state;

	memcpy(bytes + 1000, by_rax, sizeof(by_rax));
	assert_found(bytes, 1008, BYTES, 999, 1009);
	assert_found(bytes, 0, 1000, 999, 1009);
	assert_found(bytes, 0, 999, 999, 999);
}

/* The code is found at all positions relative to the read pieces, and at the file's ends. */
CASE_WITH(test_places, setup, teardown)
{
	uint8_t *bytes = *state;

	for (uint64_t at = (16 << 10) - 20; at < (16 << 10) + 20; at++) {
		memset(bytes, 0x0f, BYTES);
		memcpy(bytes + at, by_rax, sizeof(by_rax));
		assert_found(bytes, 0, BYTES, at - 1, at + 9);
		assert_found(bytes, 16 << 10, BYTES, at + 9 > 16 << 10 ? at - 1 : BYTES,
			     at + 9 > 16 << 10 ? at + 9 : BYTES);
	}
	memset(bytes, 0x0f, BYTES);
	memcpy(bytes, by_eax, sizeof(by_eax));
	memcpy(bytes + BYTES - sizeof(by_eax), by_eax, sizeof(by_eax));
	assert_found(bytes, 0, BYTES, 0, 7);
	assert_found(bytes, 7, BYTES, BYTES - 8, BYTES);
	/* The first byte is missing. */
	memcpy(bytes, by_eax + 1, sizeof(by_eax) - 1);
	assert_found(bytes, 0, 1000, 1000, 1000);
}

static int read_fails(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	return -EIO;
}

CASE_WITH(test_blob_error, setup, teardown)
{
	struct blob blob = {.size_bytes = 100, .read = read_fails};
	struct signal_return found;

	assert_int_equal(signal_return_find(&blob, false, 0, 100, &found), -EIO);
}
