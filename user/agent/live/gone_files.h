/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes that unmap and delete files before they can be opened, such as one that loads a library
 * for some milliseconds. The BPF program reports the build ID of the file that such a process
 * executes with each sample (JITBPF_BUILD_ID). If an equal file is known, the mapping gets its
 * names and unwind rows (agent/files/equal_files.h).
 *
 * A report has the address of an instruction, and belongs to the latest mapping there. So the
 * mappings of these processes are noted first, and then searched for their reports. Reports and
 * mappings are noted until the end of the round after theirs: a round may leave mappings that are
 * younger than its start to the next one.
 *
 * At most JITBPF_FILES_GONE_MAX processes are known at a time; owners share this number. Event loop
 * only.
 */
#ifndef JITBPF_AGENT_LIVE_GONE_FILES_H
#define JITBPF_AGENT_LIVE_GONE_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/owner_budget.h"
#include "base/vec.h"
#include "uapi/kernel_maps.h"
#include "uapi/record.h"

#define GONE_REPORTS_MAX  256  /* of a process at a time */
#define GONE_MAPPINGS_MAX 1024 /* the same */

struct gone_mapping {
	uint64_t time_ns, address, size_bytes;
};

struct gone_process {
	uint32_t pid;
	bool exited;
	bool incomplete; /* in this round: more mappings than are noted, so reports do not count */
	struct budget_owner *owner;
	VEC(struct jitbpf_build_id) reports;
	VEC(struct gone_mapping) mappings;
};

struct gone_files {
	int map_fd; /* the BPF map `files_gone`; -1: none, so nothing is reported */
	VEC(struct gone_process) processes;
	struct owner_budget budget; /* of their number */
	uint64_t round_ns;	    /* start of the round before */
};

void gone_files_init(struct gone_files *ret, int map_fd);
void gone_files_deinit(struct gone_files *gone);

/*
 * Add a process, which has a file that was gone. Nothing happens if there is no room, or if it is
 * known.
 */
void gone_files_add(struct gone_files *gone, uint32_t pid, struct owner_key owner);

/* A process has exited: it is removed at the end of the round. */
void gone_files_exit(struct gone_files *gone, uint32_t pid);

static inline bool gone_files_any(const struct gone_files *gone)
{
	return gone->processes.size;
}

void gone_files_report(struct gone_files *gone, const struct jitbpf_build_id *report);

/* Note a mapping, before gone_files_find() of the round. */
void gone_files_note(struct gone_files *gone, const struct jitbpf_mapping *mapping);

/* Mappings of any process were lost: the reports so far do not count. */
void gone_files_lose(struct gone_files *gone);

/* Set the build ID of a mapping if it was reported. */
void gone_files_find(const struct gone_files *gone, struct jitbpf_mapping *mapping);

/* End the round that began at begin_ns. */
void gone_files_end_round(struct gone_files *gone, uint64_t begin_ns);

#endif
