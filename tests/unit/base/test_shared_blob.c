/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "base/shared_blob.h"
#include "tests/unit/cases.h"

static const char text[] = "contents";
static unsigned closed;

static void count_close(void *context)
{
	closed++;
}

static int open_text(void **state)
{
	static struct blob blob;

	closed = 0;
	blob = blob_of_memory(text, sizeof(text));
	blob.close = count_close;
	*state = &blob;
	return 0;
}

static void assert_reads(const struct blob *blob)
{
	char buf[sizeof(text)] = "";

	assert_int_equal(blob_read(blob, 0, buf, sizeof(buf)), 0);
	assert_string_equal(buf, text);
	assert_int_equal(blob_read(blob, 1, buf, sizeof(buf)), -EBADMSG);
}

CASE_WITH(the_last_to_close_closes_it, open_text, NULL)
{
	struct blob *first = *state, second, third;

	assert_int_equal(blob_share(first, &second), 0);
	assert_int_equal(blob_share(&second, &third), 0);
	blob_close(first);
	assert_reads(&second);
	blob_close(&second);
	assert_int_equal(closed, 0);
	assert_reads(&third);
	blob_close(&third);
	assert_int_equal(closed, 1);
}

CASE_WITH(the_first_goes_on_alone, open_text, NULL)
{
	struct blob *first = *state, second;

	assert_int_equal(blob_share(first, &second), 0);
	blob_close(&second);
	assert_int_equal(closed, 0);
	assert_int_equal(blob_share(first, &second), 0);
	blob_close(&second);
	assert_reads(first);
	blob_close(first);
	assert_int_equal(closed, 1);
}

CASE(one_that_nobody_needs_to_close)
{
	struct blob first = blob_of_memory(text, sizeof(text)), second;

	assert_int_equal(blob_share(&first, &second), 0);
	blob_close(&first);
	assert_reads(&second);
	blob_close(&second);
}
