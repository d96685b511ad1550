/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/roles/landlock.h"

#include <errno.h>
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

int landlock_forbid_all(void)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_VERSION);
	size_t row = (size_t)version < ARRAY_SIZE(file_rights) ? (size_t)version
							       : ARRAY_SIZE(file_rights);
	struct ruleset all = {.network = 3, .scopes = 3};
	size_t size_bytes = version < 4	  ? offsetof(struct ruleset, network)
			    : version < 6 ? offsetof(struct ruleset, scopes)
					  : sizeof(all);
	AUTO_CLOSE int fd = -1;

	if (version <= 0)
		return 0;
	all.files = (1ull << file_rights[row - 1]) - 1;
	fd = (int)syscall(SYS_landlock_create_ruleset, &all, size_bytes, 0);
	if (fd < 0 || syscall(SYS_landlock_restrict_self, fd, 0))
		return -errno;
	return 0;
}
