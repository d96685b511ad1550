/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A snapshot: finished records that describe the state as of the last round: processes with their
 * names, executable mappings, live JIT code, and generated kernel code. A recording that begins
 * with a snapshot replays alone.
 */
#ifndef JITBPF_PIPELINE_ANALYSIS_SNAPSHOT_H
#define JITBPF_PIPELINE_ANALYSIS_SNAPSHOT_H

#include "pipeline/analysis/analysis.h"

/*
 * Pass each record to a receiver. All have the time of the last round. With
 * analysis_options.only_sampled, there are no processes and cgroups. Returns 0, -ENOMEM, or the
 * first error of the receiver.
 */
int analysis_snapshot(const struct analysis *analysis, struct record_receiver to);

/*
 * The same for one process, as of time_ns; all records up to time_ns have been applied. again: the
 * receiver already has the records of an earlier program of the process.
 */
int analysis_snapshot_process(struct analysis *analysis, const struct process *process,
			      uint64_t time_ns, bool again, struct record_receiver to);

/* Pass the CGROUP record of a known cgroup to a receiver. Returns 0 or a negative errno. */
int analysis_snapshot_cgroup(const struct analysis *analysis, const struct known_cgroup *cgroup,
			     uint64_t time_ns, struct record_receiver to);

#endif
