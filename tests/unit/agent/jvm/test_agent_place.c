/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/jvm/agent_place.h"
#include "tests/unit/cases.h"

static const char content[] = "the agent";

/* The root of a process, with a folder tmp, and an agent outside. */
struct place_test {
	char root[32], agent[48];
	int root_fd, agent_fd;
};

static int set_up(void **state)
{
	struct place_test *test = calloc(1, sizeof(*test));

	strcpy(test->root, "/tmp/jitbpf-place-XXXXXX");
	assert_non_null(mkdtemp(test->root));
	test->root_fd = open(test->root, O_PATH | O_DIRECTORY);
	assert_int_equal(mkdirat(test->root_fd, "tmp", 0700), 0);
	assert_int_equal(fchmodat(test->root_fd, "tmp", 01777, 0), 0);
	snprintf(test->agent, sizeof(test->agent), "%s/agent", test->root);
	test->agent_fd = open(test->agent, O_RDWR | O_CREAT, 0600);
	assert_int_equal(write(test->agent_fd, content, sizeof(content)), sizeof(content));
	*state = test;
	return 0;
}

static int tear_down(void **state)
{
	struct place_test *test = *state;

	unlinkat(test->root_fd, "tmp", 0);
	unlinkat(test->root_fd, "tmp", AT_REMOVEDIR);
	unlink(test->agent);
	rmdir(test->root);
	close(test->root_fd);
	close(test->agent_fd);
	free(test);
	return 0;
}

static int find(const struct place_test *test, const char *path, struct agent_place *ret)
{
	const struct agent_user user = {.uid = getuid()};

	return agent_place_find(test->root_fd, test->agent_fd, path, &user, ret);
}

CASE_WITH(test_installed, set_up, tear_down)
{
	const struct place_test *test = *state;
	struct agent_place place;

	assert_int_equal(find(test, "/agent", &place), 0);
	assert_string_equal(place.path, "/agent");
	assert_int_equal(place.folder_fd, -1);
	agent_place_remove(&place);
	assert_int_equal(access(test->agent, F_OK), 0);
}

CASE_WITH(test_copied, set_up, tear_down)
{
	const struct place_test *test = *state;
	char read_back[sizeof(content)];
	struct agent_place place;
	struct stat st;
	int fd;

	assert_int_equal(find(test, "/elsewhere/agent", &place), 0);
	assert_int_equal(strncmp(place.path, "/tmp/libjitbpf-jvmti-", 21), 0);
	fd = openat(test->root_fd, place.path + 1, O_RDONLY);
	assert_int_equal(read(fd, read_back, sizeof(read_back)), sizeof(content));
	assert_string_equal(read_back, content);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0500);
	close(fd);
	agent_place_remove(&place);
	assert_int_equal(faccessat(test->root_fd, place.path + 1, F_OK, 0), -1);
}

/* Another file at the path is not the agent, and neither is what a link outside of the root names.
 */
CASE_WITH(test_other_file, set_up, tear_down)
{
	const struct place_test *test = *state;
	struct agent_place place;

	assert_int_equal(symlinkat(test->agent, test->root_fd, "tmp/link"), 0);
	assert_int_equal(find(test, "/tmp/link", &place), 0);
	assert_string_not_equal(place.path, "/tmp/link");
	agent_place_remove(&place);
	assert_int_equal(unlinkat(test->root_fd, "tmp/link", 0), 0);
}

/* Without the sticky bit, every user could replace the copy. */
CASE_WITH(test_unsafe_folder, set_up, tear_down)
{
	const struct place_test *test = *state;
	struct agent_place place;

	assert_int_equal(fchmodat(test->root_fd, "tmp", 0777, 0), 0);
	assert_int_equal(find(test, "/elsewhere/agent", &place), -EACCES);
	assert_int_equal(fchmodat(test->root_fd, "tmp", 0770, 0), 0);
	assert_int_equal(find(test, "/elsewhere/agent", &place), -EACCES);
	assert_int_equal(fchmodat(test->root_fd, "tmp", 0755, 0), 0);
	assert_int_equal(find(test, "/elsewhere/agent", &place), 0);
	agent_place_remove(&place);
}

/* A folder of somebody else is refused, whatever its mode. */
CASE_WITH(test_foreign_folder, set_up, tear_down)
{
	const struct place_test *test = *state;
	const struct agent_user user = {.uid = getuid() + 1};
	struct agent_place place;

	if (!getuid())
		assert_int_equal(fchownat(test->root_fd, "tmp", 4711, 4711, 0), 0);
	assert_int_equal(
		agent_place_find(test->root_fd, test->agent_fd, "/elsewhere/agent", &user, &place),
		-EACCES);
}

/* It may be that of root of the process's user namespace. */
CASE_WITH(test_folder_of_namespace, set_up, tear_down)
{
	const struct place_test *test = *state;
	const struct agent_user user = {.uid = 4712, .root_uid = getuid() ?: 4711};
	struct agent_place place;

	if (!getuid())
		assert_int_equal(fchownat(test->root_fd, "tmp", 4711, 4711, 0), 0);
	assert_int_equal(
		agent_place_find(test->root_fd, test->agent_fd, "/elsewhere/agent", &user, &place),
		0);
	agent_place_remove(&place);
}

/* A link as /tmp stays in the root. */
CASE_WITH(test_link_out_of_the_root, set_up, tear_down)
{
	const struct place_test *test = *state;
	struct agent_place place;

	assert_int_equal(unlinkat(test->root_fd, "tmp", AT_REMOVEDIR), 0);
	assert_int_equal(symlinkat("/../../tmp", test->root_fd, "tmp"), 0);
	assert_int_equal(find(test, "/elsewhere/agent", &place), -EACCES);
	assert_int_equal(agent_place_open_folder(test->root_fd, "tmp"), -ELOOP);
}
