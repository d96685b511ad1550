/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/path.h"
#include "base/text.h"

static void test_beginning(void **state)
{
	assert_true(begins_with("libphp8.so", "libphp"));
	assert_true(begins_with("libphp", "libphp"));
	assert_true(begins_with("libphp", ""));
	assert_true(begins_with("", ""));
	assert_false(begins_with("libph", "libphp"));
	assert_false(begins_with("xlibphp", "libphp"));
	assert_false(begins_with("", "l"));
}

static void test_ending(void **state)
{
	assert_true(ends_with("out.folded", ".folded"));
	assert_true(ends_with(".folded", ".folded"));
	assert_true(ends_with("out", ""));
	assert_true(ends_with("", ""));
	assert_false(ends_with("folded", ".folded"));
	assert_false(ends_with("out.folded.gz", ".folded"));
	assert_false(ends_with("", "."));
}

static void test_beginning_of_bytes(void **state)
{
	static const char bytes[] = {'[', 'a', 'n', 'o', 'n'};

	assert_true(bytes_begin_with(bytes, sizeof(bytes), "[anon"));
	assert_true(bytes_begin_with(bytes, sizeof(bytes), ""));
	assert_true(bytes_begin_with(bytes, 0, ""));
	assert_false(bytes_begin_with(bytes, 4, "[anon"));
	assert_false(bytes_begin_with(bytes, sizeof(bytes), "[anon:"));
}

static void test_path(void **state)
{
	static const struct {
		const char *path, *file;
		int folder_bytes;
	} paths[] = {
		{"/usr/bin/php", "php", 8}, {"/php", "php", 0}, {"php", "php", 0},
		{"/usr/bin/", "", 8},	    {"", "", 0},	{"a/b", "b", 1},
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		assert_string_equal(path_file(paths[i].path), paths[i].file);
		assert_int_equal(path_folder_bytes(paths[i].path), paths[i].folder_bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_beginning),
		cmocka_unit_test(test_ending),
		cmocka_unit_test(test_beginning_of_bytes),
		cmocka_unit_test(test_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
