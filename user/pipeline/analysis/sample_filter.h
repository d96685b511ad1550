/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which samples a view is about, where not all. Those left out are neither
 * counted nor shown: the ledger is that of the samples asked for.
 */
#ifndef JITBPF_PIPELINE_ANALYSIS_SAMPLE_FILTER_H
#define JITBPF_PIPELINE_ANALYSIS_SAMPLE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/record.h"

/* Lists are borrowed; an empty one lets all pass. Zero-initialized lets all pass. */
struct sample_filter {
	uint64_t from_ns, to_ns; /* since the recording's start, [from, to); to 0: to its end */
	const uint32_t *pids;
	size_t pid_count;
	const uint32_t *tids;
	size_t tid_count;
	const char *const *comms; /* names of a process or of a thread */
	size_t comm_count;
};

/* Does it leave anything out? */
bool sample_filter_is_set(const struct sample_filter *filter);

/*
 * Does it let the sample pass? process_comm is the process's name then, start_ns
 * the recording's start.
 */
bool sample_filter_passes(const struct sample_filter *filter, const struct jitbpf_sample *sample,
			  const char *process_comm, uint64_t start_ns);

/* The same for what a thread, whose name is not known, did at time_ns. */
bool sample_filter_passes_event(const struct sample_filter *filter, uint32_t pid, uint32_t tid,
				uint64_t time_ns, const char *process_comm, uint64_t start_ns);

/* The same for losses, of which no time and no thread is known: a filter by either stops them. */
bool sample_filter_passes_lost(const struct sample_filter *filter, uint32_t pid,
			       const char *process_comm);

#endif
