/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "base/blob.h"
#include "base/cursor.h"
#include "tests/unit/cases.h"

CASE(test_bounds)
{
	static const uint8_t bytes[] = {1, 2, 3, 4, 'a', 'b', 0, 'c'};
	struct cursor c = cursor_of(bytes, sizeof(bytes));
	const void *taken;
	const char *s;
	uint32_t word;
	uint64_t large;

	assert_int_equal(cursor_read(&c, &word, 4), 0);
	assert_int_equal(word, 0x04030201);
	assert_int_equal(cursor_read(&c, &large, 8), -EBADMSG);
	assert_int_equal(cursor_offset(&c), 4);
	assert_int_equal(cursor_string(&c, &s), 0);
	assert_string_equal(s, "ab");
	assert_int_equal(cursor_string(&c, &s), -EBADMSG); /* no NUL */
	assert_int_equal(cursor_take(&c, SIZE_MAX, &taken), -EBADMSG);
	assert_int_equal(cursor_left(&c), 1);
	assert_int_equal(cursor_skip(&c, 1), 0);
	assert_int_equal(cursor_left(&c), 0);
}

CASE(test_blob)
{
	static const char text[] = "0123456789";
	struct blob blob = blob_of_memory(text, 10);
	/* volatile hides the constant from the compiler, which would warn */
	volatile uint64_t too_far = UINT64_MAX;
	char buf[4];

	assert_int_equal(blob_read(&blob, 6, buf, 4), 0);
	assert_memory_equal(buf, "6789", 4);
	assert_int_equal(blob_read(&blob, 7, buf, 4), -EBADMSG);
	assert_int_equal(blob_read(&blob, too_far, buf, 1), -EBADMSG);
	assert_int_equal(blob_read(&blob, 1, buf, SIZE_MAX), -EBADMSG);
}
