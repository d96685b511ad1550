/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decides whether a uprobe may be registered in a file. The registration reads a page of the file,
 * and all forks of the machine wait meanwhile: on a FUSE file system, for as long as a process of
 * any user likes.
 */
#ifndef JITBPF_AGENT_KERNEL_FILE_SYSTEM_H
#define JITBPF_AGENT_KERNEL_FILE_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

/* The program of bpf/file_system.bpf.c. Borrowed. */
struct file_system_check {
	int program_fd;
	volatile uint32_t *file; /* its variable; NULL: every file is allowed */
};

/* Returns true if it may. fd is a descriptor of this process; O_PATH is enough. */
bool file_system_allows_probe(const struct file_system_check *check, int fd);

#endif
