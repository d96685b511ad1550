/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent/files/search_limits.h"

#define SECOND_NS 1000000000ull

static unsigned searches(struct search_limits *limits, uint32_t uid, uint64_t now_ns)
{
	unsigned count = 0;

	while (search_limits_allow(limits, uid, now_ns))
		count++;
	return count;
}

/* A user gets many at once, and then a share of the time; other users are not affected. */
static void test_limits(void **state)
{
	struct search_limits limits = {0};

	assert_int_equal(searches(&limits, 1000, SECOND_NS), SEARCHES_AT_ONCE);
	assert_int_equal(searches(&limits, 1000, SECOND_NS), 0);
	assert_int_equal(searches(&limits, 0, SECOND_NS), SEARCHES_AT_ONCE);
	assert_int_equal(searches(&limits, 1000, 2 * SECOND_NS), SEARCHES_A_SECOND);
	assert_int_equal(searches(&limits, 1000, SECOND_NS), 0); /* the clock of another CPU */
	assert_int_equal(searches(&limits, 1000, 1000 * SECOND_NS), SEARCHES_AT_ONCE);
	search_limits_deinit(&limits);
}

static void test_many_users(void **state)
{
	struct search_limits limits = {0};

	for (uint32_t uid = 0; uid < SEARCHING_USERS_MAX; uid++)
		assert_true(search_limits_allow(&limits, uid, SECOND_NS));
	assert_int_equal(searches(&limits, 1000000, SECOND_NS), SEARCHES_AT_ONCE - 1);
	assert_int_equal(searches(&limits, 1000001, SECOND_NS), 0);
	assert_int_equal(limits.users.size, SEARCHING_USERS_MAX);
	search_limits_deinit(&limits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_many_users),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
