/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sink/same_names.h"
#include "tests/unit/cases.h"

static struct same_names names;

static int setup(void **state)
{
	same_names_init(&names);
	return 0;
}

static int teardown(void **state)
{
	same_names_deinit(&names);
	return 0;
}

static uint32_t add(uint32_t name, uint32_t module, const char *file)
{
	const struct same_name same = {name, module, 1};

	assert_int_equal(same_names_add(&names, &same, file), 0);
	return (uint32_t)names.items.size - 1;
}

static void assert_file(uint32_t item, const char *shown)
{
	assert_string_equal(same_names_file(&names, item), shown);
}

CASE_WITH(a_name_alone_needs_no_file, setup, teardown)
{
	uint32_t first = add(1, 1, "/src/a.c"), other = add(2, 1, "/src/b.c");
	uint32_t of_another_module = add(1, 2, "/src/b.c");

	assert_file(first, "");
	assert_file(other, "");
	assert_file(of_another_module, "");
}

CASE_WITH(files_are_shown_as_far_as_they_differ, setup, teardown)
{
	uint32_t a = add(1, 1, "/src/x/util.c"), b = add(1, 1, "/src/x/main.c"), c, d;

	assert_file(a, "util.c");
	assert_file(b, "main.c");
	c = add(1, 1, "/src/y/util.c");
	assert_file(a, "x/util.c");
	assert_file(b, "x/main.c");
	assert_file(c, "y/util.c");
	d = add(1, 1, "/other/x/util.c");
	assert_file(a, "src/x/util.c");
	assert_file(d, "other/x/util.c");
}

CASE_WITH(a_function_that_is_not_static_has_none, setup, teardown)
{
	uint32_t everybodys = add(1, 1, ""), own = add(1, 1, "a.c");

	assert_file(everybodys, "");
	assert_file(own, "a.c");
}

CASE_WITH(paths_that_differ_far_up_are_whole, setup, teardown)
{
	uint32_t a = add(1, 1, "/p/a/b/c/d/e/f.c"), b = add(1, 1, "/q/a/b/c/d/e/f.c");

	assert_file(a, "/p/a/b/c/d/e/f.c");
	assert_file(b, "/q/a/b/c/d/e/f.c");
}

CASE_WITH(many_functions_of_one_name, setup, teardown)
{
	static char files[20000][32];

	for (uint32_t i = 0; i < 20000; i++) {
		snprintf(files[i], sizeof(files[i]), "/src/%u/init.c", i);
		add(1, 1, files[i]);
	}
	assert_file(0, "0/init.c");
	assert_file(19999, "19999/init.c");
}
