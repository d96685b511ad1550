/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which side-band records concern the processes that are profiled, where those
 * are not all: what goes on elsewhere on the machine has no place in a
 * recording of one command. Follows forks as bpf/process.bpf.c does.
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

/* Zero-initialized holds no process. */
struct process_filter {
	VEC(struct filtered_process) processes;
	struct index_map index;
};

/* since_ns: a fork before it made this very process. Returns 0 or -ENOMEM. */
int process_filter_add(struct process_filter *filter, uint32_t pid, uint64_t since_ns);
bool process_filter_has(const struct process_filter *filter, uint32_t pid);

/*
 * Take note of a side-band record, given in order of time. Returns 1 if it
 * concerns a process of the filter, or no process; 0 if it does not; or -ENOMEM.
 */
int process_filter_take(struct process_filter *filter, const struct jitbpf_record *record);

void process_filter_deinit(struct process_filter *filter);

#endif
