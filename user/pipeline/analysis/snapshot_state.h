/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* State of a snapshot, for the files that implement it. */
#ifndef JITBPF_PIPELINE_ANALYSIS_SNAPSHOT_STATE_H
#define JITBPF_PIPELINE_ANALYSIS_SNAPSHOT_STATE_H

#include "pipeline/analysis/analysis_state.h"

struct snapshot {
	const struct analysis *analysis;
	const struct process *process; /* the current process */
	struct record_receiver to;
	uint64_t time_ns;  /* of all records of the snapshot; earlier records have been applied */
	VEC(uint8_t) room; /* for the current record */

	/* The current mapping, and the engine of its code. */
	struct space_entry entry;
	uint32_t engine_module; /* module of the last look-up */
	uint64_t engine_address;
	uint64_t new_id;	 /* next id for methods of processes that have exited */
	VEC(uint32_t) reporters; /* processes in the snapshot, ascending */
	VEC(const struct shared_code *)
	orphaned; /* objects whose code of exited processes was put */
};

/* Returns a zeroed record in snapshot->room, or NULL (out of memory). */
void *snapshot_make(struct snapshot *snapshot, uint16_t type, size_t size_bytes);
int snapshot_put(struct snapshot *snapshot, const struct jitbpf_record *record);
int snapshot_put_event(void *snapshot, const struct code_event *event);

/*
 * snapshot_process.c: put the name of the current process, its pid in its own namespace and its
 * owner; its mappings, and so on. again: an earlier program of the process was put before. Return
 * 0, -ENOMEM or the first error of the receiver.
 */
int snapshot_put_identity(struct snapshot *snapshot, bool again);
int snapshot_put_mappings(struct snapshot *snapshot);
int snapshot_put_runtimes(struct snapshot *snapshot);  /* runtimes.c */
int snapshot_put_sequences(struct snapshot *snapshot); /* the numbers of its code events */
int snapshot_put_threads(struct snapshot *snapshot);
int snapshot_put_cgroup(struct snapshot *snapshot, const struct known_cgroup *cgroup);

#endif
