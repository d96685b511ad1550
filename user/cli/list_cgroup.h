/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The container and unit of a process that runs, for `jitbpf list`. */
#ifndef JITBPF_CLI_LIST_CGROUP_H
#define JITBPF_CLI_LIST_CGROUP_H

#include <stdint.h>

#include "uapi/record.h"

/* All are "" if the process is in the root of the cgroups, or cannot be read. */
struct list_cgroup {
	char container[JITBPF_CGROUP_NAME_MAX]; /* its name, else the beginning of its ID */
	char unit[JITBPF_CGROUP_NAME_MAX];
	char path[JITBPF_CGROUP_PATH_MAX]; /* only if there is neither */
};

/*
 * Read the cgroups of a process: of version 2, or, if it is in the root of that, of version 1: the
 * first path with a container, else that of systemd.
 */
void list_cgroup_read(uint32_t pid, struct list_cgroup *ret);

/* Returns the container, else the unit, else the path. */
const char *list_cgroup_text(const struct list_cgroup *cgroup);

#endif
