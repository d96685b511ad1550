/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An independent reader of the data in a flame graph page. */
#ifndef TESTS_PAGE_READER_H
#define TESTS_PAGE_READER_H

#include "tests/unit/sink/made_view.h"

/* Returns the text inside the script element. The caller frees it. */
MADE char *page_data_of(const char *page)
{
	static const char begin[] = "<script type=\"application/json\" id=\"profile\">";
	const char *data = strstr(page, begin);

	assert_non_null(data);
	data += strlen(begin);
	return strndup(data, strcspn(data, "<"));
}

/* Returns the value of a member of one table. */
MADE const char *page_member(const char *data, const char *table, const char *key)
{
	char mark[64];
	const char *p;

	snprintf(mark, sizeof(mark), "\"%s\":{\"rows\":", table);
	p = strstr(data, mark);
	assert_non_null(p);
	snprintf(mark, sizeof(mark), "\"%s\":", key);
	p = strstr(p, mark);
	assert_non_null(p);
	return p + strlen(mark);
}

MADE uint32_t page_base64_digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *digit = strchr(digits, c);

	assert_true(c && digit);
	return (uint32_t)(digit - digits);
}

/* Compare the numbers of a column with a text like "1 2 3". */
MADE void page_expect(const char *data, const char *table, const char *key, const char *expected)
{
	const char *p = page_member(data, table, key);
	char said[512] = "";
	size_t size = 0;
	uint64_t value = 0;
	uint32_t bits = 0, bit_count = 0, shift = 0;

	assert_int_equal(*p++, '"');
	for (; *p != '"' && *p != '='; p++) {
		bits = bits << 6 | page_base64_digit(*p);
		bit_count += 6;
		if (bit_count < 8)
			continue;
		bit_count -= 8;
		value |= (uint64_t)(bits >> bit_count & 0x7f) << shift;
		shift += 7;
		if (bits >> bit_count & 0x80)
			continue;
		assert_true(size < sizeof(said) - 24);
		size += (size_t)sprintf(said + size, size ? " %lu" : "%lu", value);
		value = shift = 0;
	}
	assert_int_equal(shift, 0);
	assert_string_equal(said, expected);
}

#endif
