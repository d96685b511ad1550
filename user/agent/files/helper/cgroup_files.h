/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of cgroups, from /proc/PID/cgroup and the files of container runtimes. For helper
 * processes: the kernel reads the former under a lock that the creation of cgroups takes, too, and
 * only root may read most of the latter.
 */
#ifndef JITBPF_AGENT_FILES_HELPER_CGROUP_FILES_H
#define JITBPF_AGENT_FILES_HELPER_CGROUP_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/record.h"

/*
 * Read /proc/PID/cgroup, up to room_bytes. Sets *ret_bytes to its size, without a NUL. Returns 0 or
 * a negative errno.
 */
int cgroup_files_read(uint32_t pid, char *buf, size_t room_bytes, size_t *ret_bytes);

/* A line of /proc/PID/cgroup. The path points into the text. */
struct cgroup_files_line {
	const char *path;
	size_t path_bytes;
	bool is_version_2, is_systemd; /* neither flag: a hierarchy of controllers of version 1 */
};

/*
 * Get the next whole line, and move *text behind it, of which *bytes are left. Malformed lines are
 * skipped. Returns false at the end.
 */
bool cgroup_files_next(const char **text, size_t *bytes, struct cgroup_files_line *ret);

/*
 * Find the path of cgroup version 2 in the text of /proc/PID/cgroup, and copy it to ret. Returns 0,
 * -ENOENT (none), -ENAMETOOLONG.
 */
int cgroup_files_path(const char *text, size_t bytes, char *ret, size_t room_bytes);

#endif
