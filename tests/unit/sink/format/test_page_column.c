/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/sink/page_reader.h"

#include "base/scope.h"
#include "sink/format/page_column.h"
#include "tests/unit/cases.h"

/* {"t":{"rows":0,"c":"..."}} */
static char *written(const uint64_t *values, size_t count)
{
	struct page_column column = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct json json = json_of(out, false);

	for (size_t i = 0; i < count; i++)
		page_column_put(&column, values[i]);
	json_begin(&json, '{');
	json_key(&json, "t");
	json_begin(&json, '{');
	json_member_number(&json, "rows", 0);
	assert_int_equal(page_column_write(&column, &json, "c"), 0);
	json_end(&json, '}');
	json_end(&json, '}');
	assert_int_equal(column.bytes.size, 0);
	page_column_deinit(&column);
	fclose(out);
	return text;
}

CASE(numbers_take_as_many_bytes_as_they_need)
{
	static const uint64_t values[] = {0, 127, 128, 300, UINT32_MAX, UINT64_MAX};
	AUTO_FREE char *text = written(values, ARRAY_SIZE(values));

	page_expect(text, "t", "c", "0 127 128 300 4294967295 18446744073709551615");
	assert_int_equal(strlen(page_member(text, "t", "c")), strlen("\"\"}}") + 28); /* 21 bytes */
}

/* Padding as in RFC 4648. */
CASE(the_end_is_padded)
{
	static const uint64_t values[] = {'f', 'o', 'o', 'b'};
	static const char *const expected[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="};

	for (size_t count = 0; count < ARRAY_SIZE(expected); count++) {
		AUTO_FREE char *text = written(values, count);
		const char *value = page_member(text, "t", "c") + 1;

		assert_int_equal(strcspn(value, "\""), strlen(expected[count]));
		assert_memory_equal(value, expected[count], strlen(expected[count]));
	}
}
