/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A regular file as a blob. */
#ifndef JITBPF_AGENT_FILES_FILE_BLOB_H
#define JITBPF_AGENT_FILES_FILE_BLOB_H

#include "base/blob.h"

/*
 * Open path for reading if it is a regular file, without side effects if it is
 * not (a device, a FIFO). Returns a descriptor, or negative errno (-EACCES for
 * anything but a regular file).
 */
int file_open_regular(const char *path);

/*
 * Open for reading what path_fd, which only stands for it (O_PATH), means, if that
 * is a regular file. path_fd stays the caller's. Returns as above.
 */
int file_open_again(int path_fd);

/* Takes over fd, which closing the blob closes. Returns 0 or negative errno (fd untouched). */
int file_blob_init(struct blob *ret, int fd);

/* Of what path_fd stands for: see file_open_again(). Returns 0 or negative errno. */
int file_blob_open(struct blob *ret, int path_fd);

#endif
