/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/utf8.h"
#include "symbolize/name/shown_name.h"
#include "tests/unit/cases.h"

DEFINE_CLEANUP(struct string_pool *, string_pool_destroy);

static const char *shown(struct string_pool *pool, const char *s, size_t size_bytes)
{
	uint32_t number;

	assert_int_equal(shown_name_add(pool, s, size_bytes, &number), 0);
	return string_pool_get(pool, number);
}

CASE(a_name_is_shown_as_it_is)
{
	CLEANUP(string_pool_destroyp) struct string_pool *pool = NULL;
	AUTO_FREE char *longest = malloc(SHOWN_NAME_MAX + 1);

	assert_non_null(longest);
	assert_int_equal(string_pool_create(&pool), 0);
	assert_string_equal(shown(pool, "main", 4), "main");
	assert_string_equal(shown(pool, "main\0more", 9), "main");
	assert_string_equal(shown(pool, "maintain", 4), "main");
	memset(longest, 'x', SHOWN_NAME_MAX);
	longest[SHOWN_NAME_MAX] = 0;
	assert_string_equal(shown(pool, longest, SHOWN_NAME_MAX), longest);
}

CASE(a_long_one_is_cut_but_stays_another)
{
	CLEANUP(string_pool_destroyp) struct string_pool *pool = NULL;
	const size_t size = 1 << 20;
	AUTO_FREE char *name = malloc(size);
	const char *first, *second;

	assert_non_null(name);
	assert_int_equal(string_pool_create(&pool), 0);
	memset(name, 'x', size);
	first = shown(pool, name, size);
	assert_int_equal(strlen(first), SHOWN_NAME_MAX);
	assert_non_null(strstr(first, "xxx...#"));
	assert_ptr_equal(shown(pool, name, size), first);
	name[size - 1] = 'y';
	second = shown(pool, name, size);
	assert_string_not_equal(first, second);
	assert_memory_equal(first, second, SHOWN_NAME_MAX - 16);
}

/* A character of three bytes at each position of the cut. */
CASE(no_character_is_cut_in_two)
{
	CLEANUP(string_pool_destroyp) struct string_pool *pool = NULL;
	AUTO_FREE char *name = calloc(1, 6004);

	assert_non_null(name);
	assert_int_equal(string_pool_create(&pool), 0);
	for (size_t i = 0; i < 6000; i += 3)
		memcpy(name + 3 + i, "\xe2\x82\xac", 3);
	for (int before = 1; before <= 3; before++) {
		const char *s;
		uint32_t bytes;

		memset(name + 3 - before, 'x', (size_t)before);
		for (s = shown(pool, name + 3 - before, 6000); *s; s += bytes)
			assert_int_not_equal(utf8_next(s, &bytes), UTF8_INVALID);
	}
}
