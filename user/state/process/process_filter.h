/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Selects the side-band records of the profiled processes, if not all processes are profiled. So
 * the recording of one command does not hold the mappings of other processes. Follows forks as
 * bpf/process.bpf.c does.
 */
#ifndef JITBPF_STATE_PROCESS_PROCESS_FILTER_H
#define JITBPF_STATE_PROCESS_PROCESS_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"
#include "uapi/record.h"

struct filtered_process {
	uint32_t pid;
	uint64_t since_ns;
};

/* Without a process if zero-initialized. */
struct process_filter {
	VEC(struct filtered_process) processes;
	struct index_map index;
};

/*
 * Add a process that exists at since_ns. A FORK record of the pid with an earlier time is the fork
 * that created this process, and does not remove it. Returns 0 or -ENOMEM.
 */
int process_filter_add(struct process_filter *filter, uint32_t pid, uint64_t since_ns);
bool process_filter_has(const struct process_filter *filter, uint32_t pid);

/*
 * Update the filter by a side-band record; records come in order of time. Returns 1 if the
 * record is about a process of the filter, or about no process; 0 if not; or -ENOMEM.
 */
int process_filter_take(struct process_filter *filter, const struct jitbpf_record *record);

void process_filter_deinit(struct process_filter *filter);

#endif
