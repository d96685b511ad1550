/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/roles/landlock.h"
#include "tests/unit/cases.h"

enum { PROC_READ = 1, OTHER_READ = 2, FILE_MADE = 4, PARENT_SIGNALLED = 8, REFUSED = 64 };

static bool opens(const char *path, int flags)
{
	int fd = open(path, flags, 0600);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Returns what a child may still do with a ruleset; folder NULL: that forbids all. */
static int left_with(const char *folder)
{
	char path[] = "/tmp/jitbpf-unit-XXXXXX", made[64];
	int status;
	pid_t pid;

	assert_non_null(mkdtemp(path));
	snprintf(made, sizeof(made), "%s/made", path);
	pid = fork();
	if (!pid) {
		int left = 0;

		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (folder ? landlock_read_only(folder) : landlock_forbid_all())
			_exit(REFUSED);
		left |= opens("/proc/self/status", O_RDONLY) ? PROC_READ : 0;
		left |= opens("/etc/passwd", O_RDONLY) ? OTHER_READ : 0;
		left |= opens(made, O_WRONLY | O_CREAT) ? FILE_MADE : 0;
		left |= kill(getppid(), 0) ? 0 : PARENT_SIGNALLED;
		_exit(left);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	unlink(made);
	rmdir(path);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

CASE(test_rules)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
	int all = PROC_READ | OTHER_READ | FILE_MADE | PARENT_SIGNALLED;

	if (version <= 0) {
		assert_int_equal(left_with("/proc"), all);
		assert_int_equal(left_with(NULL), all);
		return;
	}
	assert_int_equal(left_with("/proc"), PROC_READ | PARENT_SIGNALLED);
	assert_int_equal(left_with(NULL), version < 6 ? PARENT_SIGNALLED : 0);
}
