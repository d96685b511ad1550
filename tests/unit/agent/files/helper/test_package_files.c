/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/files/helper/package_files.h"
#include "base/scope.h"
#include "tests/unit/cases.h"

#define INFO "/var/lib/dpkg/info/"

static int make_root(void **state)
{
	*state = strdup("/tmp/jitbpf-test-XXXXXX");
	return mkdtemp(*state) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", (const char *)*state);
	free(*state);
	return system(command);
}

/* Makes the folders of a path, and returns the whole path. */
static const char *place(const char *root, const char *path)
{
	static char whole[512];

	for (const char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		snprintf(whole, sizeof(whole), "%s%.*s", root, (int)(at - path), path);
		mkdir(whole, 0755);
	}
	snprintf(whole, sizeof(whole), "%s%s", root, path);
	return whole;
}

static void put(const char *root, const char *path, const char *text)
{
	FILE *file = fopen(place(root, path), "we");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void check(const char *root, const char *paths, const char *expected)
{
	char answer[4096];

	assert_int_equal(package_files_find(root, paths, answer, sizeof(answer)), 0);
	assert_string_equal(answer, expected);
}

static void make_debian(const char *root)
{
	put(root, "/usr/lib/os-release",
	    "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n"
	    "VERSION_CODENAME=bookworm\n");
	put(root, INFO "php8.2-cli.list", "/.\n/usr\n/usr/bin\n/usr/bin/php8.2\n");
	put(root, INFO "libc6:amd64.list", "/.\n/lib/x/libc.so.6\n/lib64/ld.so\n");
	put(root, INFO "tool.list", "/opt/tool"); /* its end is cut */
}

CASE_WITH(test_packages, make_root, remove_root)
{
	make_debian(*state);
	check(*state, "/opt/tool\n/usr/bin/php8.2\n/usr/bin\n/usr/bin/php8.22\n",
	      "debian\nbookworm\ndpkg\ntool\nphp8.2-cli\nphp8.2-cli\n\n");
	check(*state, "", "debian\nbookworm\ndpkg\n");
	check(*state, "/usr/bin/php8.2", "debian\nbookworm\ndpkg\nphp8.2-cli\n");
}

/* The kernel reports paths in /usr. */
CASE_WITH(test_merged_usr, make_root, remove_root)
{
	char path[512];

	make_debian(*state);
	check(*state, "/usr/lib/x/libc.so.6\n", "debian\nbookworm\ndpkg\n\n");
	strcpy(path, place(*state, "/bin"));
	assert_int_equal(symlink("usr/bin", path), 0);
	strcpy(path, place(*state, "/lib"));
	assert_int_equal(symlink("usr/lib", path), 0);
	check(*state, "/usr/lib/x/libc.so.6\n/lib/x/libc.so.6\n/usr/lib64/ld.so\n/bin/php8.2\n",
	      "debian\nbookworm\ndpkg\nlibc6:amd64\nlibc6:amd64\nlibc6:amd64\nphp8.2-cli\n");
	check(*state, "/usr/opt/tool\n/usr/libc6\n", "debian\nbookworm\ndpkg\n\n\n");
}

CASE_WITH(test_diversions, make_root, remove_root)
{
	make_debian(*state);
	put(*state, INFO "ours:amd64.list", "/usr/bin/tool\n");
	put(*state, INFO "theirs.list", "/usr/bin/tool\n/usr/bin/local\n");
	put(*state, "/var/lib/dpkg/diversions",
	    "/usr/bin/tool\n/usr/bin/tool.distrib\nours\n"
	    "/usr/bin/local\n/usr/bin/local.distrib\n:\n/cut\n");
	check(*state,
	      "/usr/bin/tool\n/usr/bin/tool.distrib\n/usr/bin/local\n/usr/bin/local.distrib\n",
	      "debian\nbookworm\ndpkg\nours:amd64\ntheirs\n\ntheirs\n");
}

CASE_WITH(test_other_distributions, make_root, remove_root)
{
	put(*state, "/etc/os-release", "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\nIDX=no\n");
	check(*state, "/usr/bin/php\n", "rocky rhel centos fedora\n\n\n\n");
	put(*state, "/etc/os-release", "ID=a$(reboot)\nVERSION_CODENAME='x y'\nID_LIKE");
	check(*state, "/usr/bin/php\n", "a\nx y\n\n\n");
	unlink(place(*state, "/etc/os-release"));
	check(*state, "/usr/bin/php\n", "\n\n\n\n");
}

/* Folders of the data base that only root writes; but no fault in them stops jitbpf. */
CASE_WITH(test_odd_files, make_root, remove_root)
{
	char path[512];

	make_debian(*state);
	assert_int_equal(mkfifo(place(*state, INFO "fifo.list"), 0644), 0);
	assert_int_equal(mkdir(place(*state, INFO "folder.list"), 0755), 0);
	strcpy(path, place(*state, INFO "link.list"));
	assert_int_equal(symlink("/dev/zero", path), 0);
	put(*state, INFO "a\nb.list", "/usr/bin/x\n");
	put(*state, INFO "$(reboot).list", "/usr/bin/x\n");
	put(*state, INFO ".list", "/usr/bin/x\n");
	put(*state, INFO "zeros.list", "/usr/bin/y\n");
	strcpy(path, place(*state, INFO "zeros.list"));
	assert_int_equal(truncate(path, 1 << 20), 0);
	put(*state, INFO "huge.list", "/usr/bin/z\n");
	strcpy(path, place(*state, INFO "huge.list"));
	assert_int_equal(truncate(path, PACKAGE_LIST_MAX + 1), 0);
	check(*state, "/usr/bin/php8.2\n/usr/bin/x\n/usr/bin/y\n/usr/bin/z\n",
	      "debian\nbookworm\ndpkg\nphp8.2-cli\n\nzeros\n\n");
}

/* Another user's list is not read. */
CASE_WITH(test_owner, make_root, remove_root)
{
	make_debian(*state);
	if (geteuid() || chown(place(*state, INFO "php8.2-cli.list"), 65534, 65534))
		NOT_APPLICABLE("needs root");
	check(*state, "/usr/bin/php8.2\n/opt/tool\n", "debian\nbookworm\ndpkg\n\ntool\n");
}

CASE_WITH(test_limits, make_root, remove_root)
{
	char answer[1024], paths[PACKAGE_PATHS_MAX * 3 + 4] = "";

	make_debian(*state);
	for (int i = 0; i < PACKAGE_PATHS_MAX; i++)
		strcat(paths, "/a\n");
	assert_int_equal(package_files_find(*state, paths, answer, sizeof(answer)), 0);
	strcat(paths, "/a\n");
	assert_int_equal(package_files_find(*state, paths, answer, sizeof(answer)), -EINVAL);
	assert_int_equal(package_files_find(*state, "/a\n", answer, 16), -EMSGSIZE);
}
