/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/roles/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/scope.h"

#define CREATE_VERSION 1u

/* As of version 6; older kernels take the beginning. */
struct ruleset {
	uint64_t files, network, scopes;
};

/* Number of rights to files, by version from 1. */
static const uint8_t file_rights[] = {13, 14, 15, 15, 16};

/* Of the rights to files. */
#define READ_FILE   (1u << 2)
#define READ_FOLDER (1u << 3)

#define SCOPE_SOCKETS 1u
#define SCOPE_SIGNALS 2u

#define RULE_PATH_BENEATH 1

struct path_beneath {
	uint64_t allowed;
	int32_t folder_fd;
} __attribute__((packed));

static int allow_reading(int ruleset_fd, const char *folder)
{
	AUTO_CLOSE int folder_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct path_beneath rule = {.allowed = READ_FILE | READ_FOLDER, .folder_fd = folder_fd};

	if (folder_fd < 0 ||
	    syscall(SYS_landlock_add_rule, ruleset_fd, RULE_PATH_BENEATH, &rule, 0))
		return -errno;
	return 0;
}

/* readable: a folder, or NULL. */
static int forbid(uint64_t scopes, const char *readable)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_VERSION);
	size_t row = (size_t)version < ARRAY_SIZE(file_rights) ? (size_t)version
							       : ARRAY_SIZE(file_rights);
	struct ruleset all = {.network = 3, .scopes = scopes};
	size_t size_bytes = version < 4	  ? offsetof(struct ruleset, network)
			    : version < 6 ? offsetof(struct ruleset, scopes)
					  : sizeof(all);
	AUTO_CLOSE int fd = -1;
	int err;

	if (version <= 0)
		return 0;
	all.files = (1ull << file_rights[row - 1]) - 1;
	fd = (int)syscall(SYS_landlock_create_ruleset, &all, size_bytes, 0);
	if (fd < 0)
		return -errno;
	err = readable ? allow_reading(fd, readable) : 0;
	if (!err && syscall(SYS_landlock_restrict_self, fd, 0))
		err = -errno;
	return err;
}

int landlock_forbid_all(void)
{
	return forbid(SCOPE_SOCKETS | SCOPE_SIGNALS, NULL);
}

int landlock_read_only(const char *folder)
{
	return forbid(SCOPE_SOCKETS, folder);
}
