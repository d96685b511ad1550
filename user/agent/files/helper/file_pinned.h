/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory that an open descriptor keeps from being freed. Runs in helper processes. */
#ifndef JITBPF_AGENT_FILES_HELPER_FILE_PINNED_H
#define JITBPF_AGENT_FILES_HELPER_FILE_PINNED_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns the memory in bytes that a descriptor keeps if all others close the file and unmount its
 * file system: that of a deleted file or memfd, of a file on a tmpfs, or of the whole tmpfs if that
 * is not mounted in our mount namespace. UINT64_MAX: unknown and not bounded. 0 for a disk, and if
 * the kernel does not say what is below, as for overlayfs and FUSE.
 */
uint64_t file_pinned_bytes(int fd);

/* Returns true if a descriptor keeps nothing: the file is linked, on a disk, and `direct`. */
bool file_is_lasting(int fd, bool direct);

#endif
