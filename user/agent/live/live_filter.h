/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which of the profiled processes are sampled (bpf/sample_filter.h). Unlike tracked processes, they
 * are chosen anew at each sample: a process can move to another cgroup, or execute another program.
 */
#ifndef JITBPF_AGENT_LIVE_LIVE_FILTER_H
#define JITBPF_AGENT_LIVE_LIVE_FILTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "uapi/kernel_maps.h"

/*
 * A process must satisfy each list that is not empty, and satisfies a list by one of its items. All
 * are sampled if it is zero-initialized.
 */
struct live_filter {
	uint32_t name_count, user_count, cgroup_count;
	/* Of the process, or of the file that it executes, without the folder. Padded with zeros.
	 */
	char names[JITBPF_FILTER_NAMES_MAX][JITBPF_FILTER_NAME_BYTES];
	uint32_t users[JITBPF_FILTER_USERS_MAX];   /* real user IDs */
	int cgroup_fds[JITBPF_FILTER_CGROUPS_MAX]; /* of version 2, with those below; borrowed */
	bool skips_file; /* processes that execute this file are not sampled */
	dev_t file_device;
	ino_t file_inode;
};

#endif
