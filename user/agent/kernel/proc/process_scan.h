/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The start-up scan: names, inner pids and executable mappings of all processes, from /proc, as
 * COMM, INNER_PID and MAPPING records. The scan begins after the side-band is enabled, so that no
 * event is missed in between. Records of processes that started before came_ns have the time
 * came_ns, so that side-band records from during the scan are newer. Records of younger processes
 * have the time of the scan.
 *
 * All kernels are scanned in this way: a BPF iterator saves a few ms per run but has no paths.
 */
#ifndef JITBPF_AGENT_KERNEL_PROC_PROCESS_SCAN_H
#define JITBPF_AGENT_KERNEL_PROC_PROCESS_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/files/file_store.h"
#include "base/vec.h"
#include "decode/text/proc_maps.h"
#include "pipeline/source.h"

typedef VEC(uint32_t) process_pids;

struct process_scan {
	struct file_store *files;
	uint64_t came_ns; /* start of the run, before the side-band was read */
	bool (*wanted)(void *context, uint32_t pid);
	/*
	 * Adds the pids of all processes that may be wanted to ret, in any order, some perhaps
	 * twice. Returns 0 or a negative errno. NULL: process_scan_list().
	 */
	int (*list)(void *context, process_pids *ret);
	void *wanted_context; /* of both */
	record_taker_fn take;
	void *take_context;
	/*
	 * Called for each mapping, executable or not, of processes that started before came_ns, or
	 * that are scanned again. NULL: for none.
	 */
	int (*take_map)(void *context, uint32_t pid, const struct proc_map *map);
	void *take_map_context;
	uint64_t *ret_cut;	/* incremented for each process whose mappings are not all read */
	process_pids *ret_late; /* processes that have not answered yet are added; NULL: skipped */
};

/*
 * Emit the records of each wanted process. Processes that end during the scan are skipped, and so
 * are those whose /proc files are not readable. Of those in ret_late, nothing was emitted yet.
 * Returns 0, -ENOMEM, the negative errno of opening /proc, or a taker's error.
 */
int process_scan(const struct process_scan *scan);

/*
 * process_scan() for the processes of `late`, which is emptied. Processes that still do not answer
 * are added to ret_late again.
 */
int process_scan_late(const struct process_scan *scan, process_pids *late);

/*
 * Emit the records of one process again, after side-band records from lost_ns on may have been
 * lost: its name and mappings as of time_ns, flagged READ_AGAIN and DOUBTFUL (uapi/record.h).
 * came_ns is not used. Returns as process_scan().
 */
int process_scan_again(const struct process_scan *scan, uint32_t pid, uint64_t lost_ns,
		       uint64_t time_ns);

/*
 * Add the pids of all processes to ret, ascending. Returns 0, -ENOMEM, or
 * the negative errno of opening /proc.
 */
int process_scan_list(process_pids *ret);

/* Returns the process of a thread (the same number for the leader), or 0 if there is none. */
uint32_t process_scan_leader(uint32_t tid);

#endif
