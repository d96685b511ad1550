/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <string.h>

#include "base/path.h"
#include "base/scope.h"
#include "tests/unit/cases.h"

CASE(paths_are_normalized)
{
	static const struct {
		const char *path, *normal;
	} cases[] = {
		{"", ""},
		{"/", "/"},
		{".", ""},
		{"a.c", "a.c"},
		{"/src/a.c", "/src/a.c"},
		{"./a.c", "a.c"},
		{"/src/./a.c", "/src/a.c"},
		{"/src//a.c", "/src/a.c"},
		{"//a.c", "/a.c"},
		{"/src/../include/a.h", "/include/a.h"},
		{"/b/src/../../include/a.h", "/include/a.h"},
		{"/../a.c", "/a.c"},
		{"/..", "/"},
		{"../a.c", "../a.c"},
		{"../../a.c", "../../a.c"},
		{"../a/../../b.c", "../../b.c"},
		{"a/..", ""},
		{"a/../b.c", "b.c"},
		{"a/../../b.c", "../b.c"},
		{"/src/a.c/", "/src/a.c"},
		{".../..a/a..", ".../..a/a.."},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *path = strdup(cases[i].path);

		assert_int_equal(path_normalize(path), strlen(cases[i].normal));
		assert_string_equal(path, cases[i].normal);
		free(path);
	}
}
