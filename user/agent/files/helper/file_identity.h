/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The identity of an open file, to compare it with that of a mapping. The functions access the file
 * system, so only helper processes call them.
 */
#ifndef JITBPF_AGENT_FILES_HELPER_FILE_IDENTITY_H
#define JITBPF_AGENT_FILES_HELPER_FILE_IDENTITY_H

#include <stdint.h>

/* Device and inode as the kernel reports them for mappings; stat() may report another device. */
struct mapped_identity {
	uint32_t dev_major, dev_minor;
	uint64_t inode;
};

/*
 * Map a page of a file that is open for reading, and set *ret to what the kernel reports for that
 * mapping. Returns 0 or a negative errno.
 */
int file_identity_mapped(int fd, struct mapped_identity *ret);

/* Returns the inode's generation as perf reports it, or 0 if the file system reports none. */
uint64_t file_identity_generation(int fd);

/*
 * Returns a number, never 0, that distinguishes a file from a later one with the same inode number:
 * a hash of the inode's generation and time of birth. A file's owner can choose neither, except on
 * FUSE.
 */
uint64_t file_identity_version(int fd);

#endif
