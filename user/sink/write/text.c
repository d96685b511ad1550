/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/write/text.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/scope.h"
#include "base/utf8.h"
#include "sink/write/out.h"

void text_put(struct text *text, const char *bytes, size_t size_bytes)
{
	if (!size_bytes)
		return; /* bytes.data may be NULL */
	if (vec_reserve(&text->bytes, text->bytes.size + size_bytes)) {
		text->failed = true;
		return;
	}
	memcpy(text->bytes.data + text->bytes.size, bytes, size_bytes);
	text->bytes.size += size_bytes;
}

void text_put_string(struct text *text, const char *s)
{
	text_put(text, s, strlen(s));
}

void text_put_decimal(struct text *text, uint64_t value)
{
	char digits[20], *p = digits + sizeof(digits);

	do {
		*--p = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	text_put(text, p, (size_t)(digits + sizeof(digits) - p));
}

void text_printf(struct text *text, const char *format, ...)
{
	char fixed[256];
	AUTO_FREE char *large = NULL;
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(fixed, sizeof(fixed), format, args);
	va_end(args);
	if (size >= 0 && (size_t)size < sizeof(fixed)) {
		text_put(text, fixed, (size_t)size);
		return;
	}
	va_start(args, format);
	size = vasprintf(&large, format, args);
	va_end(args);
	if (size < 0) {
		large = NULL;
		text->failed = true;
		return;
	}
	text_put(text, large, (size_t)size);
}

void text_put_number(struct text *text, uint64_t value, int columns)
{
	char s[32], *p = s + sizeof(s);
	int digits = 0;

	*--p = 0;
	do {
		if (digits && digits % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + value % 10);
		value /= 10;
		digits++;
	} while (value);
	text_printf(text, "%*s", columns, p);
}

void text_put_bytes(struct text *text, uint64_t bytes, int columns)
{
	static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
	double value = (double)bytes;
	size_t unit = 0;
	char s[32];

	while (value >= 1000 && unit + 1 < ARRAY_SIZE(units)) {
		value /= 1000;
		unit++;
	}
	snprintf(s, sizeof(s), unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
	text_printf(text, "%*s", columns, s);
}

void text_put_name(struct text *text, const char *name, char forbidden, char instead)
{
	const char *plain = name; /* start of the text that is not copied yet */
	const char *at = name;

	while (*at) {
		uint32_t bytes, code = utf8_next(at, &bytes);
		bool banned = forbidden && *at == forbidden;

		if (!banned && code != UTF8_INVALID && !utf8_is_control(code)) {
			at += bytes;
			continue;
		}
		text_put(text, plain, (size_t)(at - plain));
		text_put(text, banned ? &instead : "?", 1);
		at += bytes;
		plain = at;
	}
	text_put(text, plain, (size_t)(at - plain));
}

uint32_t text_put_name_cut(struct text *text, const char *name, uint32_t columns)
{
	const char *at = name,
		   *room = name; /* room: the last place where "..." still fits behind */
	AUTO_FREE char *cut = NULL;
	uint32_t count = 0;

	for (uint32_t bytes; *at && count < columns; count++, at += bytes) {
		utf8_next(at, &bytes);
		if (count + 3 == columns)
			room = at;
	}
	if (!*at) {
		text_put_name(text, name, 0, 0);
		return count;
	}
	cut = strndup(name, (size_t)(room - name));
	if (!cut) {
		text->failed = true;
		return count;
	}
	text_put_name(text, cut, 0, 0);
	text_put_string(text, "...");
	return count;
}

int text_write(struct text *text, FILE *out)
{
	size_t size = text->bytes.size;

	text->bytes.size = 0;
	if (text->failed)
		return -ENOMEM;
	return out_write(out, text->bytes.data, size);
}

void text_deinit(struct text *text)
{
	vec_deinit(&text->bytes);
}
