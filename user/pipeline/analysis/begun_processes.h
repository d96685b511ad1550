/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decides which processes a run of chosen processes shows and records. The kernel checks name, user
 * and cgroup at each sample. It reports the mappings and code of all processes, since any process
 * can pass a later check. So with analysis_options.only_sampled, a process begins in an epoch with
 * its first sample there. Until then, its records only change the state, and it has no ledger row.
 * When it begins, its recording gets a snapshot of it, and then its records.
 *
 * A forked child of a begun process begins at once, so that it can share its parent's code. An exec
 * ends this, since the new program may not be chosen. The process begins again with the first
 * sample of the new program. Processes that share memory for code begin together: each runs what
 * the others compile.
 *
 * Without only_sampled, all processes have begun. The analysis owns this state.
 */
#ifndef JITBPF_PIPELINE_ANALYSIS_BEGUN_PROCESSES_H
#define JITBPF_PIPELINE_ANALYSIS_BEGUN_PROCESSES_H

#include "pipeline/analysis/analysis_state.h"

/* Returns true if a record says that a process executes another program. */
static inline bool comm_is_exec(const struct jitbpf_record *record)
{
	return record->type == JITBPF_COMM && record->flags & JITBPF_COMM_EXEC;
}

/* Returns true if a process has begun in an epoch; with only_sampled. */
bool epoch_has_begun(const struct epoch *e, const struct process *process);

/* Returns true if a process has begun in the current epoch. */
bool analysis_has_begun(const struct analysis *a, const struct process *process);

/*
 * Begin a process in the current epoch because of its first sample, and all processes that share
 * code with it. All records before time_ns have been applied. `to` gets the records that describe
 * these processes, if its take() is not NULL. Returns 0, -ENOMEM or the first error of the
 * receiver.
 */
int analysis_begin_process(struct analysis *a, uint32_t pid, uint64_t start_ns, uint64_t time_ns,
			   struct record_receiver to);

/*
 * After a MAPPING was applied: begin its process, if a begun process maps the same shared object.
 * At the end of a round, begin the processes that had mapped such an object before. Return as
 * above.
 */
int analysis_begin_sharer(struct analysis *a, const struct jitbpf_mapping *record,
			  struct record_receiver to);
int analysis_begin_sharers(struct analysis *a, uint64_t time_ns, struct record_receiver to);

/*
 * begun_records.c: returns true if a record belongs in the recording of an epoch (by number). Call
 * it before the record is applied.
 */
bool analysis_is_recorded(struct analysis *a, uint32_t epoch, const struct jitbpf_record *record);

/*
 * Call it before an OWNER record is written. Passes the CGROUP record of that cgroup to `to`,
 * unless the recording of the epoch has it already. Returns 0, -ENOMEM or the first error of the
 * receiver.
 */
int analysis_record_cgroup(struct analysis *a, uint32_t epoch, uint64_t cgroup, uint64_t time_ns,
			   struct record_receiver to);

/* Apply a FORK; note an exec before it is applied. Return 0 or -ENOMEM. */
int analysis_take_fork(struct analysis *a, const struct jitbpf_task *record);
int analysis_note_exec(struct analysis *a, const struct jitbpf_comm *record);

#endif
