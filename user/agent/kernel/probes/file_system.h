/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decides whether a uprobe may be registered in a file. The registration reads a page of the file,
 * and all forks of the machine wait meanwhile: on a FUSE file system, for as long as a process of
 * any user likes.
 */
#ifndef JITBPF_AGENT_KERNEL_PROBES_FILE_SYSTEM_H
#define JITBPF_AGENT_KERNEL_PROBES_FILE_SYSTEM_H

#include <stdbool.h>

struct file_system_bpf;

/* Zero-initialized except for types_fd. */
struct file_system_check {
	int types_fd; /* struct program_types, borrowed until the first call */
	struct file_system_bpf *bpf;
	bool tried; /* to load the program */
};

/*
 * Returns true if the file may have a probe. fd is a descriptor of this process; O_PATH is enough.
 * The first call loads the program: few runs see a copy of the shim. If that fails, no file may
 * have a probe. The program is unloaded when the process exits.
 */
bool file_system_allows_probe(struct file_system_check *check, int fd);

#endif
