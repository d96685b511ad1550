/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The identity of an open file, to compare it with that of a mapping. The functions access the file
 * system, so only helper processes call them.
 */
#ifndef JITBPF_AGENT_FILES_FILE_IDENTITY_H
#define JITBPF_AGENT_FILES_FILE_IDENTITY_H

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
 * Returns a number other than 0 that differs for a later file with the same inode number: a hash of
 * the inode's generation and its time of birth. Neither can be chosen by a file's owner, except
 * on FUSE.
 */
uint64_t file_identity_version(int fd);

#endif
