/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "agent/files/reading/file_place.h"
#include "base/scope.h"
#include "tests/unit/cases.h"

static bool same(const char *a, const char *b)
{
	return file_place_equal(file_place_of_debug(0, a, FILE_OWNER_UNKNOWN),
				file_place_of_debug(0, b, FILE_OWNER_UNKNOWN));
}

static bool is_of_root(const char *path)
{
	return file_place_of_debug(0, path, FILE_OWNER_UNKNOWN).kind == FILE_PLACE_ROOT;
}

CASE(test_debug_folder)
{
	static const char *const in[] = {
		"/usr/lib/debug/.build-id/12/34.debug",
		"/usr/lib/debug/usr/bin/../../.dwz/common",
		"/usr/lib/debug/a/../b",
		"/usr/lib/debug//a/./..",
		"/usr/lib/debug/..a/...",
	};
	static const char *const out[] = {
		"/usr/lib/debug/../x",
		"/usr/lib/debug/a/../../debug/x",
		"/usr/lib/debug/./.././../../mnt/x",
		"/usr/lib/debug//../../../mnt/x",
		"/usr/lib/debugger/x",
		"/usr/lib/debug",
		"/mnt/../usr/lib/debug/x",
		"//usr/lib/debug/x",
		"",
	};

	for (size_t i = 0; i < ARRAY_SIZE(in); i++)
		assert_true(is_of_root(in[i]));
	for (size_t i = 0; i < ARRAY_SIZE(out); i++)
		assert_false(is_of_root(out[i]));
}

CASE(test_trees)
{
	assert_true(same("/home/a/x", "/home/a/y/z"));
	assert_true(same("/home/a/x", "//home/.//a/./x"));
	assert_false(same("/home/a/x", "/home/b/x"));
	assert_false(same("/home/a/x", "/srv/a/x"));
	assert_false(same("/a/bc/x", "/ab/c/x"));
	/* All paths with ".." share one place, whatever they begin with. */
	assert_false(same("/usr/bin/../../mnt/x", "/usr/bin/x"));
	assert_true(same("/usr/bin/../../mnt/x", "/home/a/link/../x"));
	assert_true(same("/usr/lib/debug/../../../mnt/x", "/home/a/link/.."));
}

CASE(test_of_processes)
{
	struct file_place place = file_place_of_debug(7, "/mnt/x", FILE_OWNER_UNKNOWN);

	assert_true(file_place_equal(
		place, file_place_of_debug(7, "/usr/lib/debug/x", FILE_OWNER_UNKNOWN)));
	assert_false(file_place_equal(place, file_place_of_debug(8, "/mnt/x", FILE_OWNER_UNKNOWN)));
	assert_false(file_place_equal(
		place, file_place_of_debug(0, "/usr/lib/debug/x", FILE_OWNER_UNKNOWN)));
	assert_false(file_place_equal(file_place_of_device(7, 0, FILE_OWNER_UNKNOWN), place));
}

/* Files of several users on one device, as NFS has them, are places of their own. */
CASE(test_users)
{
	struct file_place device = file_place_of_device(0, 40, FILE_OWNER_UNKNOWN);
	struct file_place other = file_place_of_device(0, 41, FILE_OWNER_UNKNOWN);
	struct file_place user = file_place_of_user(device, 1000, 100);

	assert_false(file_place_equal(user, device));
	assert_true(file_place_equal(user, file_place_of_user(device, 1000, 100)));
	assert_false(file_place_equal(user, file_place_of_user(device, 1001, 100)));
	assert_false(file_place_equal(user, file_place_of_user(device, 1000, 101)));
	assert_false(file_place_equal(user, file_place_of_user(other, 1000, 100)));
	assert_true(file_owner_equal(user.owner, device.owner));
}
