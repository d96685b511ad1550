/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds files for the FIND requests of file_helper.h. Runs in helper processes. */
#ifndef JITBPF_AGENT_FILES_HELPER_FILE_FIND_H
#define JITBPF_AGENT_FILES_HELPER_FILE_FIND_H

#include "agent/files/helper/file_helper.h"

/* A regular file, open in two ways. The owner closes both. */
struct file_find {
	int path_fd;		       /* O_PATH */
	int fd;			       /* for reading */
	bool misreported;	       /* perf reports another device for mappings of the file */
	uint32_t dev_major, dev_minor; /* of mappings; set if the request has an inode */
};

/*
 * Open the mapping of a process by /proc/PID/map_files, without access to its file system. Waits
 * for the process's mmap lock. Returns an O_PATH descriptor or a negative errno: -EPERM if the
 * kernel refuses this file to us.
 */
int file_find_mapping(const struct file_request *request);

/*
 * Find a file that is no debug info of a server. mapping_fd is what file_find_mapping() returned;
 * the caller keeps it. A file of a mapping is accepted only if the kernel reports the requested
 * device and inode for a mapping of it: the process, and any user with a mount namespace, can put
 * another file at the path. Returns 0 or a negative errno: -EPERM if the file system refuses the
 * file to us; -ESTALE if a file was there, but another. For a mapping, "there" is the root of its
 * process, which is known until it exits.
 */
int file_find(const struct file_request *request, int mapping_fd, struct file_find *ret);

/*
 * Returns true if the mount namespace of a process belongs to another user namespace than ours, or
 * if that cannot be found out. Its owner may have put any file at any path.
 */
bool file_find_root_is_foreign(uint32_t pid);

#endif
