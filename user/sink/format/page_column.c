/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/format/page_column.h"

#include "base/leb128.h"
#include "base/scope.h"

void page_column_put(struct page_column *column, uint64_t value)
{
	if (vec_reserve(&column->bytes, column->bytes.size + LEB128_BYTES_MAX)) {
		column->failed = true;
		return;
	}
	column->bytes.size += leb128_write(value, column->bytes.data + column->bytes.size);
}

/* Write base64 in quotes, without a NUL. Returns the length. */
static size_t put_base64(char *to, const uint8_t *bytes, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *p = to;

	*p++ = '"';
	for (size_t i = 0; i < size; i += 3) {
		uint32_t three = (uint32_t)bytes[i] << 16;

		three |= i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0;
		three |= i + 2 < size ? bytes[i + 2] : 0;
		*p++ = digits[three >> 18];
		*p++ = digits[three >> 12 & 63];
		*p++ = i + 1 < size ? digits[three >> 6 & 63] : '=';
		*p++ = i + 2 < size ? digits[three & 63] : '=';
	}
	*p++ = '"';
	return (size_t)(p - to);
}

int page_column_write(struct page_column *column, struct json *json, const char *key)
{
	size_t size = column->bytes.size;
	AUTO_FREE char *text = column->failed ? NULL : malloc((size + 2) / 3 * 4 + 3);

	column->bytes.size = 0;
	column->failed = false;
	if (!text)
		return -ENOMEM;
	text[put_base64(text, column->bytes.data, size)] = 0;
	json_member_literal(json, key, text);
	return 0;
}

void page_column_deinit(struct page_column *column)
{
	vec_deinit(&column->bytes);
}

void page_column_begin_table(struct json *json, const char *key, uint64_t rows)
{
	json_key(json, key);
	json_begin(json, '{');
	json_member_number(json, "rows", rows);
}
