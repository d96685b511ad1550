/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "symbolize/name/method_name.h"
#include "tests/unit/cases.h"

static void assert_name(const char *class_name, const char *name, bool readable, const char *want)
{
	AUTO_FREE char *made = NULL;

	assert_int_equal(method_name(class_name, name, readable, &made), 0);
	assert_string_equal(made, want);
}

CASE(test_names)
{
	assert_name("C", "m", true, "C::m");
	assert_name("", "m", true, "m");
	assert_name("C", "", true, "");
	assert_name("", "_Z1fi", true, "f(int)");
	assert_name("", "_Z1fi", false, "_Z1fi");
}

/* The process chooses the length of each part. */
CASE(test_long_parts)
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
