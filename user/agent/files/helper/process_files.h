/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opens the mapped files and descriptors of processes, by /proc. For helper processes: access to
 * map_files waits for the lock of the process's memory map, and both need privileges.
 */
#ifndef JITBPF_AGENT_FILES_HELPER_PROCESS_FILES_H
#define JITBPF_AGENT_FILES_HELPER_PROCESS_FILES_H

#include <stddef.h>

#include "agent/files/helper/file_helper.h"

/*
 * Open a memfd for reading that process request->pid maps at [address, address + size_bytes), with
 * the inode of the request. If the kernel refuses map_files, the memfd is found among the
 * descriptors of the process, by request->path, the text of its link. Other files are not
 * accessed. Returns a descriptor or a negative errno: -EACCES if it is no memfd.
 */
int process_files_open_memfd(const struct file_request *request);

/*
 * Read the link of descriptor request->address of a process: a path. Sets *ret_bytes to its size,
 * without a NUL. Returns 0 or a negative errno.
 */
int process_files_read_link(const struct file_request *request, char *buf, size_t room_bytes,
			    size_t *ret_bytes);

/*
 * Set *ret to the user of a process, if its real, effective and saved IDs are equal. Returns 0 or a
 * negative errno.
 */
int process_files_user(uint32_t pid, struct file_actor *ret);

#endif
