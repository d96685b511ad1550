/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A strict checker for JSON (RFC 8259) in UTF-8. Invalid input fails the test. */
#ifndef TESTS_JSON_CHECK_H
#define TESTS_JSON_CHECK_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/utf8.h"

static inline void json_skip_space(const char **at)
{
	*at += strspn(*at, " \t\r\n");
}

static inline void json_take(const char **at, char c)
{
	if (**at != c)
		fail_msg("'%c' is wanted at %.40s", c, *at);
	++*at;
}

static inline void json_check_string(const char **at)
{
	uint32_t bytes;

	json_take(at, '"');
	while (**at != '"') {
		uint32_t code = utf8_next(*at, &bytes);

		assert_int_not_equal(code, UTF8_INVALID);
		assert_true(code >= 0x20);
		*at += bytes;
		if (code != '\\')
			continue;
		assert_true(**at && strchr("\"\\/bfnrtu", **at));
		if (*(*at)++ == 'u') {
			assert_true(strspn(*at, "0123456789abcdefABCDEF") >= 4);
			*at += 4;
		}
	}
	++*at;
}

static inline void json_check_digits(const char **at)
{
	size_t digits = strspn(*at, "0123456789");

	assert_true(digits > 0);
	*at += digits;
}

static inline void json_check_number(const char **at)
{
	if (**at == '-')
		++*at;
	assert_false(**at == '0' && (*at)[1] >= '0' && (*at)[1] <= '9');
	json_check_digits(at);
	if (**at == '.') {
		++*at;
		json_check_digits(at);
	}
}

/* Check any value; nesting is limited by the test's stack. */
static inline void json_check_value(const char **at)
{
	char open, close;

	json_skip_space(at);
	open = **at;
	close = open == '{' ? '}' : ']';
	if (open == '"') {
		json_check_string(at);
	} else if (open == '{' || open == '[') {
		++*at;
		json_skip_space(at);
		while (**at != close) {
			if (open == '{') {
				json_check_string(at);
				json_skip_space(at);
				json_take(at, ':');
			}
			json_check_value(at);
			json_skip_space(at);
			if (**at == close)
				break;
			json_take(at, ',');
			json_skip_space(at);
			assert_true(**at != close);
		}
		++*at;
	} else if (!strncmp(*at, "true", 4) || !strncmp(*at, "null", 4)) {
		*at += 4;
	} else if (!strncmp(*at, "false", 5)) {
		*at += 5;
	} else {
		json_check_number(at);
	}
}

/* Check that text is one value and nothing else. */
static inline void json_check(const char *text)
{
	json_check_value(&text);
	json_skip_space(&text);
	assert_string_equal(text, "");
}

#endif
