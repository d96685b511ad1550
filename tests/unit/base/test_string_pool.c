/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/string_pool.h"
#include "tests/unit/cases.h"

static uint32_t add(struct string_pool *pool, const char *s, size_t size_bytes)
{
	uint32_t number = UINT32_MAX;

	assert_int_equal(string_pool_add(pool, s, size_bytes, &number), 0);
	return number;
}

CASE(test_each_once)
{
	struct string_pool *pool;
	uint32_t hello;

	assert_int_equal(string_pool_create(&pool), 0);
	assert_int_equal(add(pool, "", 0), 0);
	hello = add(pool, "hello", 5);
	assert_int_not_equal(hello, 0);
	assert_int_equal(add(pool, "hello world", 5), hello);
	assert_int_equal(add(pool, "hello\0x", 7), hello); /* a NUL ends it */
	assert_int_not_equal(add(pool, "hell", 4), hello);
	assert_string_equal(string_pool_get(pool, hello), "hello");
	assert_string_equal(string_pool_get(pool, 12345), "");
	string_pool_destroy(pool);
}

/* Strings do not move while others are added, and long strings work. */
CASE(test_many)
{
	char *large = malloc(200000);
	struct string_pool *pool;
	const char *first;
	char text[32];

	assert_non_null(large);
	memset(large, 'x', 200000);
	assert_int_equal(string_pool_create(&pool), 0);
	first = string_pool_get(pool, add(pool, "first", 5));
	for (int i = 0; i < 30000; i++) {
		snprintf(text, sizeof(text), "string %d", i);
		assert_int_equal(add(pool, text, strlen(text)), i + 2);
	}
	assert_int_equal(strlen(string_pool_get(pool, add(pool, large, 200000))), 200000);
	snprintf(text, sizeof(text), "string %d", 777);
	assert_int_equal(add(pool, text, strlen(text)), 779);
	assert_string_equal(first, "first");
	assert_ptr_equal(string_pool_get(pool, 1), first);
	string_pool_destroy(pool);
	free(large);
}
