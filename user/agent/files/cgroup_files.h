/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What cgroups are called: /proc/PID/cgroup, and the files of container runtimes. Runs in helper
 * processes: the kernel reads the first under a lock that whoever makes cgroups takes, and root
 * alone may read most of the others.
 */
#ifndef JITBPF_AGENT_FILES_CGROUP_FILES_H
#define JITBPF_AGENT_FILES_CGROUP_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "uapi/record.h"

/*
 * Read /proc/PID/cgroup, up to room_bytes. Sets *ret_bytes to its size, without a NUL. Returns 0 or
 * a negative errno.
 */
int cgroup_files_read(uint32_t pid, char *buf, size_t room_bytes, size_t *ret_bytes);

/*
 * Find the path of cgroup version 2 in the text of /proc/PID/cgroup, and copy it to ret. Returns 0,
 * -ENOENT (none), -ENAMETOOLONG.
 */
int cgroup_files_path(const char *text, size_t bytes, char *ret, size_t room_bytes);

#endif
