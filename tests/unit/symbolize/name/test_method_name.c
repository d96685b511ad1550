/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "symbolize/name/method_name.h"

static void assert_name(const char *class_name, const char *name, bool readable, const char *want)
{
	AUTO_FREE char *made = NULL;

	assert_int_equal(method_name(class_name, name, readable, &made), 0);
	assert_string_equal(made, want);
}

static void test_names(void **state)
{
	assert_name("C", "m", true, "C::m");
	assert_name("", "m", true, "m");
	assert_name("C", "", true, "");
	assert_name("", "_Z1fi", true, "f(int)");
	assert_name("", "_Z1fi", false, "_Z1fi");
}

/* The process chooses the length of each part. */
static void test_long_parts(void **state)
{
	const size_t bytes = METHOD_NAME_PART_MAX + 10;
	AUTO_FREE char *part = malloc(bytes + 1), *made = NULL, *joined = NULL;

	memset(part, 'x', bytes);
	part[bytes] = 0;
	assert_int_equal(method_name("", part, true, &made), 0);
	assert_int_equal(strlen(made), METHOD_NAME_PART_MAX);
	assert_int_equal(method_name(part, part, true, &joined), 0);
	assert_int_equal(strlen(joined), 2 * METHOD_NAME_PART_MAX + 2);
	assert_memory_equal(joined + METHOD_NAME_PART_MAX, "::x", 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_long_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
