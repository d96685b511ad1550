/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "agent/files/helper/cgroup_files.h"
#include "base/scope.h"
#include "tests/unit/cases.h"

CASE(test_paths)
{
	static const struct {
		const char *text, *path; /* NULL: none */
	} cases[] = {
		{"0::/\n", "/"},
		{"0::/a b/\x1b[m.service\n", "/a b/\x1b[m.service"},
		{"13:memory:/v1\n1:name=systemd:/x\n0::/v2\n", "/v2"},
		{"10::/no\n0::/v2\n", "/v2"},
		{"1:name=0::/x:/v1\n", NULL},
		{"13:memory:/v1\n", NULL},
		{"0::/cut", NULL},
		{"0::no-slash\n", NULL},
		{"", NULL},
	};
	char path[32], small[3] = "x";

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int err =
			cgroup_files_path(cases[i].text, strlen(cases[i].text), path, sizeof(path));

		assert_int_equal(err, cases[i].path ? 0 : -ENOENT);
		if (cases[i].path)
			assert_string_equal(path, cases[i].path);
	}
	assert_int_equal(cgroup_files_path("0::/ab\n", 7, small, sizeof(small)), -ENAMETOOLONG);
	assert_string_equal(small, "x");
	assert_int_equal(cgroup_files_path("0::/a\n", 6, small, sizeof(small)), 0);
}

CASE(test_lines)
{
	const char text[] = "13:memory,cpu:/a:b\n\nx\n12::\n1:name=systemd:/s\n2:name=systemd2:/t\n"
			    "0::/v2\n3:cpu:/cut";
	const char *at = text;
	size_t bytes = strlen(text);
	struct cgroup_files_line line;

	assert_true(cgroup_files_next(&at, &bytes, &line));
	assert_int_equal(line.path_bytes, 4);
	assert_memory_equal(line.path, "/a:b", 4);
	assert_false(line.is_version_2 || line.is_systemd);
	assert_true(cgroup_files_next(&at, &bytes, &line));
	assert_memory_equal(line.path, "/s\n", 3);
	assert_true(line.is_systemd && !line.is_version_2);
	assert_true(cgroup_files_next(&at, &bytes, &line));
	assert_false(line.is_version_2 || line.is_systemd);
	assert_true(cgroup_files_next(&at, &bytes, &line));
	assert_true(line.is_version_2);
	assert_false(cgroup_files_next(&at, &bytes, &line));
	assert_false(cgroup_files_next(&at, &bytes, &line));
}

CASE(test_own)
{
	char text[4096];
	size_t bytes = 0, part = 0;

	assert_int_equal(cgroup_files_read((uint32_t)getpid(), text, sizeof(text), &bytes), 0);
	assert_true(bytes && text[bytes - 1] == '\n');
	assert_int_equal(cgroup_files_read((uint32_t)getpid(), text, 3, &part), 0);
	assert_int_equal(part, 3);
	assert_int_equal(cgroup_files_read(UINT32_MAX, text, sizeof(text), &bytes), -ENOENT);
}
