/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/write/json.h"

#include "base/utf8.h"

static void put(struct json *json, const char *s)
{
	fputs_unlocked(s, json->out);
}

/* Write the separator before a value, a key or a closing bracket. */
static void separate(struct json *json, bool comma)
{
	if (json->has_key) {
		json->has_key = false;
		return;
	}
	if (comma)
		put(json, ",");
	if (!json->lines || (!json->depth && !comma))
		return;
	put(json, "\n");
	for (uint32_t i = 0; i < json->depth; i++)
		put(json, "\t");
}

void json_begin(struct json *json, char bracket)
{
	separate(json, json->more);
	putc_unlocked(bracket, json->out);
	json->more = false;
	json->depth++;
}

void json_end(struct json *json, char bracket)
{
	json->depth--;
	if (json->more && json->lines) {
		put(json, "\n");
		for (uint32_t i = 0; i < json->depth; i++)
			put(json, "\t");
	}
	putc_unlocked(bracket, json->out);
	json->more = true;
	if (json->lines && !json->depth)
		put(json, "\n");
}

/*
 * '<', '>' and '&' are escaped so that no text can end a script element or begin a comment in it;
 * separators and bidirectional controls, so that they are visible.
 */
static bool needs_escape(uint32_t code)
{
	return code == '"' || code == '\\' || code == '<' || code == '>' || code == '&' ||
	       utf8_is_control(code);
}

static void put_unit(struct json *json, uint32_t unit)
{
	static const char digits[] = "0123456789abcdef";
	char escape[] = "\\u0000";

	for (int i = 5; i > 1; i--, unit >>= 4)
		escape[i] = digits[unit & 15];
	fwrite_unlocked(escape, 1, sizeof(escape) - 1, json->out);
}

static void put_escaped(struct json *json, uint32_t code)
{
	if (code >= 0x10000) { /* JSON uses two UTF-16 units */
		put_unit(json, 0xd800 + ((code - 0x10000) >> 10));
		code = 0xdc00 + (code & 0x3ff);
	}
	put_unit(json, code);
}

static void put_quoted(struct json *json, const char *s)
{
	putc_unlocked('"', json->out);
	while (*s) {
		uint32_t bytes, code = utf8_next(s, &bytes);

		if (code == UTF8_INVALID)
			put(json, "\xef\xbf\xbd");
		else if (needs_escape(code))
			put_escaped(json, code);
		else
			fwrite_unlocked(s, 1, bytes, json->out);
		s += bytes;
	}
	putc_unlocked('"', json->out);
}

void json_key(struct json *json, const char *key)
{
	separate(json, json->more);
	put_quoted(json, key);
	put(json, json->lines ? ": " : ":");
	json->has_key = true;
}

void json_string(struct json *json, const char *s)
{
	separate(json, json->more);
	put_quoted(json, s);
	json->more = true;
}

static void put_number(struct json *json, uint64_t value)
{
	char digits[20], *p = digits + sizeof(digits);

	do {
		*--p = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	fwrite_unlocked(p, 1, (size_t)(digits + sizeof(digits) - p), json->out);
}

void json_number(struct json *json, uint64_t value)
{
	separate(json, json->more);
	put_number(json, value);
	json->more = true;
}

void json_decimal(struct json *json, uint64_t value, uint32_t places)
{
	char digits[21] = ".";
	uint64_t rest = value;
	uint32_t last = 0;

	for (uint32_t i = places; i; i--, rest /= 10) {
		digits[i] = (char)('0' + rest % 10);
		if (digits[i] != '0' && !last)
			last = i;
	}
	separate(json, json->more);
	put_number(json, rest);
	if (last)
		fwrite_unlocked(digits, 1, last + 1, json->out);
	json->more = true;
}

void json_literal(struct json *json, const char *literal)
{
	separate(json, json->more);
	put(json, literal);
	json->more = true;
}

void json_member_string(struct json *json, const char *key, const char *s)
{
	json_key(json, key);
	json_string(json, s);
}

void json_member_number(struct json *json, const char *key, uint64_t value)
{
	json_key(json, key);
	json_number(json, value);
}

void json_member_literal(struct json *json, const char *key, const char *literal)
{
	json_key(json, key);
	json_literal(json, literal);
}
