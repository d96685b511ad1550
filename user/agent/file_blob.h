/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A regular file as a blob. */
#ifndef JITBPF_AGENT_FILE_BLOB_H
#define JITBPF_AGENT_FILE_BLOB_H

#include "base/blob.h"

/*
 * Open path for reading if it is a regular file, without side effects if it is
 * not (a device, a FIFO). Returns a descriptor, or negative errno (-EACCES for
 * anything but a regular file).
 */
int file_open_regular(const char *path);

/*
 * The same for a path as a process sees it, whose root is open as root_fd: no
 * link leads out of there.
 */
int file_open_regular_in(int root_fd, const char *path);

/* Takes over fd, which closing the blob closes. Returns 0 or negative errno (fd untouched). */
int file_blob_init(struct blob *ret, int fd);

#endif
