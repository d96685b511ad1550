/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts the files of processes with samples that could not be opened: another file is at the path,
 * or the file is gone. All processes may have to be followed, since those that are chosen by name
 * can start later; only those with samples lack names for such a file.
 *
 * Zero-initialized: empty. Not thread-safe.
 */
#ifndef JITBPF_AGENT_FILES_UNVERIFIED_FILES_H
#define JITBPF_AGENT_FILES_UNVERIFIED_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* Processes without samples that have such files; for more, only later files count. */
#define UNVERIFIED_WAITING_MAX 4096

struct unverified_count {
	uint64_t replaced; /* another file is at the path */
	uint64_t gone;	   /* the file is not mapped any more, and not at its path */
};

struct unverified_files {
	struct unverified_count count;
	uint64_t *sampled; /* a bit for each pid; NULL: there were no samples */
	VEC(struct unverified_process {
		uint32_t pid;
		struct unverified_count count;
	})
	waiting; /* for a sample */
};

/* The file of a mapping of a process could not be opened. */
void unverified_files_add(struct unverified_files *files, uint32_t pid, bool gone);

/* A process has a sample. */
void unverified_files_sample(struct unverified_files *files, uint32_t pid);

/*
 * A process begins: if it has the pid of one with samples, it has none of its own. Its mappings may
 * come before, since the rings of CPUs are read one by one.
 */
void unverified_files_begin(struct unverified_files *files, uint32_t pid);

void unverified_files_deinit(struct unverified_files *files);

#endif
