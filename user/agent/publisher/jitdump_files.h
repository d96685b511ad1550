/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The jitdump files that are followed. MAPPING, FORK, COMM and EXIT records add and end them. Each
 * file keeps a descriptor, so their number is limited: in all, for each owner of processes
 * (owner_budget.h), and for each process. Event loop only.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JITDUMP_FILES_H
#define JITBPF_AGENT_PUBLISHER_JITDUMP_FILES_H

#include <stdint.h>

#include "agent/publisher/jitdump_followed.h"
#include "base/owner_budget.h"
#include "base/vec.h"
#include "state/process/process_owners.h"
#include "uapi/record.h"

#define JITDUMP_FILES_MAX	     1024 /* fewer if few files may be open */
#define JITDUMP_FILES_LEAST	     16	  /* room for at least this many files */
#define JITDUMP_FILES_OF_PROCESS_MAX 16	  /* Bun has one for each thread */

struct ended_process {
	uint32_t pid;
	uint64_t time_ns;
};

struct jitdump_files {
	VEC(struct jitdump_followed *) files;
	const struct process_owners *owners; /* borrowed; NULL: none are known */
	struct owner_budget budget;
	VEC(struct ended_process) ended; /* of this drain and the one before */
	VEC(struct jitbpf_task) forks;	 /* likewise */
	uint64_t round_ns;		 /* start of the current round's drain */
	uint64_t forks_ns;    /* all forks until then were seen; start of the drain before */
	uint32_t next_number; /* of a file */
	uint64_t over_budget; /* files that are not followed */
};

void jitdump_files_init(struct jitdump_files *ret, const struct process_owners *owners);
void jitdump_files_deinit(struct jitdump_files *files);

/* See a record of the source. Returns 0 or -ENOMEM. */
int jitdump_files_see(struct jitdump_files *files, const struct jitbpf_record *record);

/* Drop the file at an index; the last one takes its place. */
void jitdump_files_drop(struct jitdump_files *files, size_t index);

/* A round's drain began at round_ns: forget ends and forks that no mapping can still follow. */
void jitdump_files_begin_round(struct jitdump_files *files, uint64_t round_ns);

#endif
