/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "base/path.h"
#include "base/text.h"
#include "tests/unit/cases.h"

CASE(test_beginning)
{
	assert_true(begins_with("libphp8.so", "libphp"));
	assert_true(begins_with("libphp", "libphp"));
	assert_true(begins_with("libphp", ""));
	assert_true(begins_with("", ""));
	assert_false(begins_with("libph", "libphp"));
	assert_false(begins_with("xlibphp", "libphp"));
	assert_false(begins_with("", "l"));
}

CASE(test_ending)
{
	assert_true(ends_with("out.folded", ".folded"));
	assert_true(ends_with(".folded", ".folded"));
	assert_true(ends_with("out", ""));
	assert_true(ends_with("", ""));
	assert_false(ends_with("folded", ".folded"));
	assert_false(ends_with("out.folded.gz", ".folded"));
	assert_false(ends_with("", "."));
}

CASE(test_beginning_of_bytes)
{
	static const char bytes[] = {'[', 'a', 'n', 'o', 'n'};

	assert_true(bytes_begin_with(bytes, sizeof(bytes), "[anon"));
	assert_true(bytes_begin_with(bytes, sizeof(bytes), ""));
	assert_true(bytes_begin_with(bytes, 0, ""));
	assert_false(bytes_begin_with(bytes, 4, "[anon"));
	assert_false(bytes_begin_with(bytes, sizeof(bytes), "[anon:"));
}

CASE(test_path)
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
