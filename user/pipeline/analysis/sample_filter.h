/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Selects the samples of a profile. Other samples are neither shown nor counted: the ledger covers
 * the selected samples only.
 */
#ifndef JITBPF_PIPELINE_ANALYSIS_SAMPLE_FILTER_H
#define JITBPF_PIPELINE_ANALYSIS_SAMPLE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state/process/cgroup_table.h"
#include "uapi/record.h"

/* Lists are borrowed; an empty list selects all. Zero-initialized: all samples. */
struct sample_filter {
	uint64_t from_ns, to_ns; /* since the recording's start, [from, to); to 0: to its end */
	const uint32_t *pids;
	size_t pid_count;
	const uint32_t *tids;
	size_t tid_count;
	const char *const *comms; /* names of a process or of a thread */
	size_t comm_count;
	const char *const *containers; /* containers or units, see known_cgroup_is_of() */
	size_t container_count;
};

/* Returns true if the filter may exclude samples. */
bool sample_filter_is_set(const struct sample_filter *filter);

/*
 * Returns true if a sample is selected. thread_name is the name of its thread at its time, which
 * may be longer than its comm; process_comm is the name of its process; cgroup is that of the
 * process then, NULL if it is not known; start_ns is the start of the recording.
 */
bool sample_filter_passes(const struct sample_filter *filter, const struct jitbpf_sample *sample,
			  const char *thread_name, const char *process_comm,
			  const struct known_cgroup *cgroup, uint64_t start_ns);

/* Returns true if an event at time_ns passes. The name of its thread is not known. */
bool sample_filter_passes_event(const struct sample_filter *filter, uint32_t pid, uint32_t tid,
				uint64_t time_ns, const char *process_comm,
				const struct known_cgroup *cgroup, uint64_t start_ns);

/*
 * Returns true if lost samples pass. With a filter by time or thread they do not, since these are
 * unknown.
 */
bool sample_filter_passes_lost(const struct sample_filter *filter, uint32_t pid,
			       const char *process_comm, const struct known_cgroup *cgroup);

#endif
