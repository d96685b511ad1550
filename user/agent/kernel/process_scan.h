/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What was there before we came: names, inner pids and executable mappings of all
 * processes, from /proc, as COMM, INNER_PID and MAPPING records. Begin it when the
 * side-band is already on, so that nothing falls between the two. What was there before
 * we came has that time, so that what the side-band tells of the scan's own time applies to it.
 */
#ifndef JITBPF_AGENT_KERNEL_PROCESS_SCAN_H
#define JITBPF_AGENT_KERNEL_PROCESS_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/files/file_store.h"
#include "base/vec.h"
#include "pipeline/source.h"

typedef VEC(uint32_t) pid_vec;

struct process_scan {
	struct file_store *files;
	uint64_t came_ns; /* before the side-band was read, and the probe was attached */
	bool (*wanted)(void *context, uint32_t pid);
	void *wanted_context;
	record_taker_fn take;
	void *take_context;
	uint64_t *ret_cut; /* counts those with too many mappings: the rest of them is missing */
	pid_vec *ret_journals; /* gets those of before us that map a journal of JIT events */
};

/*
 * Hand over the records of every process that is wanted. Processes that end meanwhile, or
 * whose files we may not read, are passed over. Returns 0, -ENOMEM, -errno of
 * opening /proc, or the taker's error.
 */
int process_scan(const struct process_scan *scan);

/* The process that a thread belongs to: itself, where it is the first one; 0: there is none. */
uint32_t process_scan_leader(uint32_t tid);

#endif
