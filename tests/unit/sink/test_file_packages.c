/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <string.h>

#include "base/scope.h"
#include "sink/file_packages.h"
#include "sink/write/text.h"
#include "tests/unit/cases.h"

CASE(test_debug_names)
{
	static const char *const names[][2] = {
		{"php8.2-cli", "php8.2-cli-dbgsym"},
		{"libonig5:amd64", "libonig5-dbgsym"},
		{"libonig5:i386", "libonig5-dbgsym:i386"},
		{"libc6:amd64", "libc6-dbg"},
		{"libc6:i386", "libc6-dbg:i386"},
		{"libc6-dev", "libc6-dev-dbgsym"},
		{"python3.11-minimal", "python3.11-dbg"},
		{"python3.11", "python3.11-dbg"},
		{"python3.", "python3.-dbgsym"},
		{"python3.11-venv", "python3.11-venv-dbgsym"},
		{"libpython3.11-stdlib:amd64", "python3.11-dbg"},
		{"openjdk-17-jre-headless:amd64", "openjdk-17-dbg"},
		{"openjdk-jre", "openjdk-jre-dbgsym"},
	};
	char name[FILE_PACKAGE_NAME_MAX], longest[FILE_PACKAGE_NAME_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_true(file_packages_debug_name(names[i][0], name));
		assert_string_equal(name, names[i][1]);
	}
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_false(file_packages_debug_name(longest, name));
}

CASE(test_valid_names)
{
	static const char *const bad[] = {"",	 "a",	"a b",	"a;reboot", "$(x)", "-o",
					  "A12", "ab:", "ab:-", "ab:x;y",   "a\n",  "ab:c:d"};
	char longest[FILE_PACKAGE_NAME_MAX + 1];

	assert_true(file_package_name_is_valid("libstdc++6"));
	assert_true(file_package_name_is_valid("libc6:amd64"));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(file_package_name_is_valid(bad[i]));
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_false(file_package_name_is_valid(longest));
	assert_true(file_package_name_is_valid(longest + 1));
}

struct made {
	struct file_packages packages;
	const char *paths[8];
	size_t count;
};

static struct made make(const char *distro, const char *release, bool has_dpkg)
{
	struct made made = {.packages = {.has_dpkg = has_dpkg}};

	strcpy(made.packages.distro, distro);
	strcpy(made.packages.release, release);
	return made;
}

static void add(struct made *made, const char *path, enum file_origin origin, const char *name)
{
	assert_int_equal(file_packages_add(&made->packages, path, origin, name), 0);
	made->paths[made->count++] = path;
}

/* Compares, and ends the made packages. */
static void check(struct made *made, const char *expected)
{
	struct text text = {0};

	text_put_string(&text, "before: ");
	file_packages_put(&text, &made->packages, made->paths, made->count);
	text_put(&text, "", 1);
	assert_false(text.failed);
	assert_string_equal(text.bytes.data + strlen("before: "), expected);
	text_deinit(&text);
	file_packages_deinit(&made->packages);
}

#define SERVER ", or set DEBUGINFOD_URLS=https://debuginfod.debian.net (with sudo -E)"

CASE(test_debian)
{
	struct made made = make("debian", "bookworm", true);

	add(&made, "/usr/bin/php8.2", FILE_ORIGIN_HERE, "php8.2-cli");
	check(&made, "apt install php8.2-cli-dbgsym (needs Debian's debug archive, "
		     "bookworm-debug, in apt's sources)" SERVER);
	made = make("debian", "", true);
	add(&made, "/usr/lib/a.so", FILE_ORIGIN_HERE, "php8.2-cli");
	add(&made, "/usr/lib/b.so", FILE_ORIGIN_HERE, "libc6:amd64");
	add(&made, "/usr/lib/c.so", FILE_ORIGIN_HERE, "php8.2-cli");
	check(&made, "apt install php8.2-cli-dbgsym libc6-dbg (needs Debian's debug archive in "
		     "apt's sources)" SERVER);
	made = make("debian", "bookworm", true);
	add(&made, "/usr/lib/b.so", FILE_ORIGIN_HERE, "libc6:amd64");
	check(&made, "apt install libc6-dbg" SERVER);
	made = make("ubuntu debian", "noble", true);
	add(&made, "/usr/lib/b.so", FILE_ORIGIN_HERE, "php8.3-cli");
	check(&made, "apt install php8.3-cli-dbgsym (needs Ubuntu's ddebs archive, noble, in apt's "
		     "sources), or set DEBUGINFOD_URLS=https://debuginfod.ubuntu.com (with sudo "
		     "-E)");
}

CASE(test_no_package)
{
	struct made made = make("debian", "bookworm", true);

	add(&made, "/opt/tool", FILE_ORIGIN_HERE, "");
	check(&made, "no package has it: build it with symbols");
	made = make("debian", "bookworm", true);
	add(&made, "/opt/tool", FILE_ORIGIN_HERE, "");
	add(&made, "/usr/lib/b.so", FILE_ORIGIN_HERE, "libc6:amd64");
	add(&made, "/app/libx.so", FILE_ORIGIN_ELSEWHERE, "");
	check(&made, "apt install libc6-dbg" SERVER
		     "; no package has the others: build them with symbols; what is not on this "
		     "machine, or is another file here, comes from a container or from where it "
		     "was recorded: install its debug symbols there");
}

CASE(test_other_distributions)
{
	struct made made = make("rocky rhel centos fedora", "", false);

	add(&made, "/usr/bin/php", FILE_ORIGIN_HERE, "");
	check(&made, "dnf debuginfo-install $(rpm -qf /usr/bin/php), or set "
		     "DEBUGINFOD_URLS=https://debuginfod.fedoraproject.org (with sudo -E)");
	made = make("opensuse-tumbleweed opensuse suse", "", false);
	add(&made, "/usr/bin/php", FILE_ORIGIN_HERE, "");
	check(&made, "zypper install $(rpm -qf --qf %{NAME}-debuginfo /usr/bin/php) (needs the "
		     "debug repository in zypper's repositories), or set "
		     "DEBUGINFOD_URLS=https://debuginfod.opensuse.org (with sudo -E)");
	made = make("arch", "", false);
	add(&made, "/usr/bin/php", FILE_ORIGIN_HERE, "");
	check(&made, "set DEBUGINFOD_URLS=https://debuginfod.archlinux.org (with sudo -E)");
	made = make("archlike", "", false);
	add(&made, "/usr/bin/php", FILE_ORIGIN_HERE, "");
	check(&made, FILE_PACKAGES_ADVICE);
}

/* Nothing that a shell would run comes from a path or a name. */
CASE(test_hostile)
{
	struct made made = make("rhel", "", false);

	add(&made, "/tmp/$(reboot)", FILE_ORIGIN_HERE, "");
	add(&made, "/tmp/a b", FILE_ORIGIN_HERE, "");
	check(&made, FILE_PACKAGES_ADVICE);
	made = make("debian", "bookworm", true);
	add(&made, "/tmp/x", FILE_ORIGIN_HERE, "x;reboot");
	check(&made, "no package has it: build it with symbols");
}

CASE(test_nothing_known)
{
	static const char *const paths[] = {"/usr/bin/php8.2"};
	struct made made = make("debian", "bookworm", true);
	struct text text = {0};

	file_packages_put(&text, NULL, paths, 1);
	assert_int_equal(text.bytes.size, strlen(FILE_PACKAGES_ADVICE));
	assert_memory_equal(text.bytes.data, FILE_PACKAGES_ADVICE, text.bytes.size);
	text_deinit(&text);
	made.paths[made.count++] = "/usr/bin/php8.2";
	check(&made, "set DEBUGINFOD_URLS=https://debuginfod.debian.net (with sudo -E)");
}
