/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/roles/identity.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/roles/privileges.h"

#define NOBODY 65534

/*
 * A process takes its identity before it starts threads, as it does its capabilities. The C
 * library's functions would change all threads, and end the process if one of them cannot: that
 * is so with the thread of ThreadSanitizer, which keeps no capability.
 *
 * The group comes first: it needs a capability that the change of the user ID makes ineffective.
 */
static int change(uint32_t uid, uint32_t gid)
{
	if (syscall(SYS_setresgid, gid, gid, gid) || syscall(SYS_setresuid, uid, uid, uid))
		return -errno;
	return 0;
}

int identity_take(uint32_t uid, uint32_t gid)
{
	const uint64_t needed = PRIVILEGE(CAP_SETUID) | PRIVILEGE(CAP_SETGID);
	int err;

	if ((privileges_held() & needed) != needed)
		return 0;
	err = privileges_use(needed);
	/* A user namespace can forbid it, in which nobody has groups that count outside. */
	if (!err && syscall(SYS_setgroups, 0, NULL) && errno != EPERM)
		err = -errno;
	if (!err && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
		err = -errno;
	err = err ?: change(uid, gid);
	if (err == -EINVAL)
		err = change(NOBODY, NOBODY);
	if (err == -EINVAL)
		err = 0;
	if (!err && prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0))
		err = -errno;
	return err ?: privileges_use(0);
}
