/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads source files through a process of its own, which has the invoking user's rights only: a
 * recording contains the paths of its source files, which the recorded processes chose. The process
 * reads regular files, up to SOURCE_BYTES_MAX each. It can block on a file system that does not
 * answer; then it is given up, and no more files are read.
 */
#ifndef JITBPF_AGENT_FILES_SOURCES_SOURCE_READER_H
#define JITBPF_AGENT_FILES_SOURCES_SOURCE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/launch/invoking_user.h"

#define SOURCE_BYTES_MAX   (8u << 20)
#define SOURCE_TIMEOUT_MS  2000
#define SOURCE_PIECE_BYTES (64u << 10)

struct source_reader; /* see source_reader.c */

struct source_file {
	char *bytes; /* owned by the receiver */
	size_t size_bytes;
	uint64_t changed_ns; /* time of the last change, CLOCK_REALTIME */
	bool for_all;	     /* everybody may read it, and enter all folders of its path */
};

/*
 * Fork the process. Call it while this process has one thread and has read nothing of others. user
 * is borrowed; the process has a copy. Returns 0 or a negative errno.
 */
int source_reader_create(const struct invoking_user *user, struct source_reader **ret);
void source_reader_destroy(struct source_reader *reader); /* NULL is allowed */

/*
 * Read a whole file. folder: the path is below it, and neither ".." nor a link leads out of it
 * (then -EXDEV); NULL: the path is absolute. Returns 0 or a negative errno: -EINVAL if it is not a
 * regular file, -ENODATA if it is empty, -EFBIG if it is larger than SOURCE_BYTES_MAX, -ETIMEDOUT
 * if its file system does not answer, or an earlier file's did not.
 */
int source_reader_read(struct source_reader *reader, const char *folder, const char *path,
		       struct source_file *ret);

#endif
