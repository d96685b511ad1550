/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The start-up scan: names, inner pids and executable mappings of all processes, from /proc, as
 * COMM, INNER_PID and MAPPING records. Begins after the side-band is on, so that nothing falls
 * between the two. Records of processes that began before came_ns have that time, so that side-band
 * records of the time of the scan apply to them; records of younger processes have the time of the
 * scan.
 *
 * All kernels are scanned in this way: a BPF iterator saves a few ms per run but has no paths.
 */
#ifndef JITBPF_AGENT_KERNEL_PROCESS_SCAN_H
#define JITBPF_AGENT_KERNEL_PROCESS_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/files/file_store.h"
#include "decode/record/proc_maps.h"
#include "pipeline/source.h"

struct process_scan {
	struct file_store *files;
	uint64_t came_ns; /* start of the run, before the side-band was read */
	bool (*wanted)(void *context, uint32_t pid);
	void *wanted_context;
	record_taker_fn take;
	void *take_context;
	/* Gets each mapping of the processes of before came_ns, executable or not. */
	int (*take_map)(void *context, uint32_t pid, const struct proc_map *map);
	void *take_map_context;
	uint64_t *ret_cut; /* counts processes with more mappings than are read */
};

/*
 * Hand over the records of each wanted process. Processes that end meanwhile, and those whose files
 * we may not read, are skipped. Returns 0, -ENOMEM, -errno of opening /proc, or a taker's error.
 */
int process_scan(const struct process_scan *scan);

/* The process that a thread belongs to (itself, if it is the first thread), or 0 if there is none.
 */
uint32_t process_scan_leader(uint32_t tid);

#endif
