/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Blobs over regular files. */
#ifndef JITBPF_AGENT_FILES_HELPER_FILE_BLOB_H
#define JITBPF_AGENT_FILES_HELPER_FILE_BLOB_H

#include "base/blob.h"

/*
 * Open a regular file for reading. Opening anything else (a device, a FIFO) has
 * no side effects and fails with -EACCES. Returns a descriptor or a negative
 * errno.
 */
int file_open_regular(const char *path);

/*
 * Open for reading the file of an O_PATH descriptor. The caller keeps path_fd.
 * Returns the same as file_open_regular().
 */
int file_open_again(int path_fd);

/*
 * Create a blob over fd. The blob takes over fd and closes it. Returns 0 or a
 * negative errno; on failure the caller keeps fd.
 */
int file_blob_init(struct blob *ret, int fd);

/* Like file_blob_init(), with a known size: does not query the file system. */
struct blob file_blob_of_size(int fd, uint64_t size_bytes);

/* Returns the descriptor of a blob from these functions, borrowed; -1 for other blobs. */
int file_blob_fd(const struct blob *blob);

/* Create a blob over a regular file, as file_open_regular() opens it. Returns 0 or a negative
 * errno. */
int file_blob_open_path(struct blob *ret, const char *path);

/* The same over the file of an O_PATH descriptor. */
int file_blob_open(struct blob *ret, int path_fd);

#endif
