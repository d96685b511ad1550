/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <string.h>

#include "base/scope.h"
#include "decode/text/cgroup_path.h"
#include "tests/unit/cases.h"

#define A16 "aaaaaaaaaaaaaaaa"
#define C16 "0123456789abcdef"
#define A   A16 A16 A16 A16
#define C   C16 C16 C16 C16

CASE(test_directories)
{
	static const struct {
		const char *directory, *container; /* NULL: none */
	} cases[] = {
		{"docker-" A ".scope", A},
		{"libpod-" A ".scope", A},
		{"libpod-" A, A},
		{"libpod-conmon-" A ".scope", NULL},
		{"crio-" A ".scope", A},
		{"crio-conmon-" A ".scope", NULL},
		{"cri-containerd-" C ".scope", C},
		{A, A},
		{A "0", NULL},
		{A16, NULL},
		{"docker-.scope", NULL},
		{"docker-" A "x.scope", NULL},
		{"lxc.payload.web", "web"},
		{"lxc.payload.", NULL},
		{"machine-a\\x2db.scope", "a-b"},
		{"machine-a\\x00b.scope", NULL},
		{"machine-a\\x2.scope", "a\\x2"},
		{"machine-a\\.scope", "a\\"},
		{"systemd-nspawn@web.service", "web"},
		{"nginx.service", NULL},
		{"", NULL},
	};
	char container[JITBPF_CGROUP_NAME_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool found = cgroup_path_container(cases[i].directory, container);

		assert_int_equal(found, cases[i].container != NULL);
		if (found)
			assert_string_equal(container, cases[i].container);
	}
}

CASE(test_long_directory)
{
	char directory[600] = "lxc.payload.", container[JITBPF_CGROUP_NAME_MAX];

	memset(directory + strlen(directory), 'a', 12 + JITBPF_CGROUP_NAME_MAX - 1 - 12);
	assert_true(cgroup_path_container(directory, container));
	assert_int_equal(strlen(container), JITBPF_CGROUP_NAME_MAX - 1);
	strcat(directory, "a");
	assert_false(cgroup_path_container(directory, container));
}

CASE(test_names)
{
	static const struct {
		const char *path, *container, *unit;
	} cases[] = {
		{"/", "", ""},
		{"", "", ""},
		{"/bench/a", "", ""},
		{"/system.slice/nginx.service", "", "nginx.service"},
		{"/system.slice/nginx.service/workers", "", "nginx.service"},
		{"/user.slice/user-1000.slice/user@1000.service/app.slice/run-1.scope", "",
		 "user@1000.service/app.slice/run-1.scope"},
		{"/user.slice/user-1000.slice/session-3.scope", "", "session-3.scope"},
		{"/system.slice/a.service/nginx.service/x/b.scope/c", "",
		 "a.service/nginx.service/x/b.scope"},
		{"/system.slice/docker-" A ".scope", A, ""},
		{"/docker/" A, A, ""},
		{"/docker/" A "/docker/" C, C, ""},
		{"/system.slice/docker-" A ".scope/system.slice/cron.service", A, "cron.service"},
		{"/machine.slice/libpod-" A ".scope/container", A, ""},
		{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/"
		 "cri-containerd-" C ".scope",
		 C, ""},
		{"/lxc.payload.web/init.scope", "web", "init.scope"},
		{"/machine-a\\x00.scope", "", "machine-a\\x00.scope"},
		{"/a\nb.service/c", "", "a\nb.service"},
		{"//x//", "", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cgroup_path_names names;

		cgroup_path_names(cases[i].path, &names);
		assert_string_equal(names.container, cases[i].container);
		assert_string_equal(names.unit, cases[i].unit);
	}
}

CASE(test_long_path)
{
	char path[3 * JITBPF_CGROUP_NAME_MAX], directory[JITBPF_CGROUP_NAME_MAX];
	const char *at = path;

	memset(path, 'a', sizeof(path));
	path[JITBPF_CGROUP_NAME_MAX + 1] = '/';
	strcpy(path + JITBPF_CGROUP_NAME_MAX + 2, "b/");
	assert_true(cgroup_path_next(&at, directory));
	assert_string_equal(directory, "b");
	assert_false(cgroup_path_next(&at, directory));
	assert_false(cgroup_path_next(&at, directory));
}

CASE(test_users)
{
	static const char *const none[] = {
		"/",
		"/user.slice/user-1000.slice",
		"/user.slice/user-.slice/a",
		"/user.slice/user-4294967295.slice/a",
		"/user.slice/user-99999999999999999999.slice/a",
		"/user.slice/user-1000.slicex/a",
		"/user.slice/user--1.slice/a",
		"/a/user.slice/user-1000.slice/b",
		"/../user.slice/user-1000.slice/b",
	};
	uint32_t user = 7;

	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		assert_false(cgroup_path_user(none[i], &user));
	assert_int_equal(user, 7);
	/* The user makes all but the first two. */
	assert_true(cgroup_path_user("/user.slice/user-1000.slice/user@1000.service/user.slice/"
				     "user-0.slice/libpod-a.scope",
				     &user));
	assert_int_equal(user, 1000);
	assert_true(cgroup_path_user("/user.slice/user-4294967294.slice/a", &user));
	assert_int_equal(user, 4294967294);
}
