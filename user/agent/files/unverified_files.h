/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts the files of processes with samples at whose path another file is. All processes may have
 * to be followed, since those that are chosen by name can start later; only those with samples
 * lack names for such a file.
 *
 * Zero-initialized: empty. Not thread-safe.
 */
#ifndef JITBPF_AGENT_FILES_UNVERIFIED_FILES_H
#define JITBPF_AGENT_FILES_UNVERIFIED_FILES_H

#include <stdint.h>

#include "base/vec.h"

/* Processes without samples that have such files; for more, only later files count. */
#define UNVERIFIED_WAITING_MAX 4096

struct unverified_files {
	uint64_t count;
	uint64_t *sampled; /* a bit for each pid; NULL: there were no samples */
	VEC(struct unverified_process {
		uint32_t pid;
		uint32_t count;
	})
	waiting; /* for a sample */
};

/* Another file is at the path of a mapping of a process. */
void unverified_files_add(struct unverified_files *files, uint32_t pid);

/* A process has a sample. */
void unverified_files_sample(struct unverified_files *files, uint32_t pid);

/*
 * A process begins: if it has the pid of one with samples, it has none of its own. Its mappings may
 * come before, since the rings of CPUs are read one by one.
 */
void unverified_files_begin(struct unverified_files *files, uint32_t pid);

void unverified_files_deinit(struct unverified_files *files);

#endif
