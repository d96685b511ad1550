/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include "agent/publisher/jitdump_tail.h"
#include "base/scope.h"
#include "tests/unit/cases.h"

#define BYTES_MAX 24

static size_t overlap(const char *end, const char *tail)
{
	uint32_t borders[64];

	return jitdump_tail_overlap((const uint8_t *)end, strlen(end), (const uint8_t *)tail,
				    strlen(tail), borders);
}

CASE(test_overlaps)
{
	assert_int_equal(overlap("", ""), 0);
	assert_int_equal(overlap("abc", ""), 0);
	assert_int_equal(overlap("", "abc"), 0);
	assert_int_equal(overlap("xabc", "abc"), 3);
	assert_int_equal(overlap("xab", "abc"), 2);
	assert_int_equal(overlap("abx", "abc"), 0);
	assert_int_equal(overlap("abcab", "abc"), 2);
	assert_int_equal(overlap("aaaa", "aaab"), 3);
	assert_int_equal(overlap("abcabc", "abcabd"), 3);
}

/* As comparing all lengths does, with bytes that repeat often. */
CASE(test_random)
{
	uint32_t borders[BYTES_MAX];
	uint8_t end[BYTES_MAX], tail[BYTES_MAX];

	srand(1);
	for (uint32_t round = 0; round < 20000; round++) {
		size_t end_bytes = (size_t)rand() % BYTES_MAX, bytes = (size_t)rand() % BYTES_MAX;
		size_t longest = bytes < end_bytes ? bytes : end_bytes;

		for (size_t i = 0; i < BYTES_MAX; i++) {
			end[i] = (uint8_t)(rand() % 2);
			tail[i] = (uint8_t)(rand() % 2);
		}
		while (longest && memcmp(end + end_bytes - longest, tail, longest) != 0)
			longest--;
		assert_int_equal(jitdump_tail_overlap(end, end_bytes, tail, bytes, borders),
				 longest);
	}
}

/* A hostile process can choose a megabyte of bytes that nearly repeat. */
CASE(test_large)
{
	AUTO_FREE uint8_t *end = calloc(1, STDIO_PENDING_MAX);
	AUTO_FREE uint8_t *tail = calloc(1, STDIO_PENDING_MAX);
	AUTO_FREE uint32_t *borders = calloc(STDIO_PENDING_MAX, sizeof(*borders));

	tail[STDIO_PENDING_MAX - 1] = 1;
	assert_int_equal(
		jitdump_tail_overlap(end, STDIO_PENDING_MAX, tail, STDIO_PENDING_MAX, borders),
		STDIO_PENDING_MAX - 1);
}
