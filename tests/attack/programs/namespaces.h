/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What any user may do: be root of namespaces of their own. */
#ifndef JITBPF_TESTS_ATTACK_NAMESPACES_H
#define JITBPF_TESTS_ATTACK_NAMESPACES_H

#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static inline void put_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err(1, "%s", path);
	close(fd);
}

/* Enter a user and a mount namespace. */
static inline void enter_namespaces(void)
{
	char uid_map[64], gid_map[64];

	snprintf(uid_map, sizeof(uid_map), "0 %u 1", getuid());
	snprintf(gid_map, sizeof(gid_map), "0 %u 1", getgid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		err(1, "unshare");
	put_text("/proc/self/setgroups", "deny");
	put_text("/proc/self/uid_map", uid_map);
	put_text("/proc/self/gid_map", gid_map);
}

#endif
