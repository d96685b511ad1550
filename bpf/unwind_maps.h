/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwind tables (uapi/unwind.h) that several programs share; jit.bpf.c defines them.
 * bpf/unwind_walk.h has the other tables. User space fills all of them.
 */
#ifndef JITBPF_BPF_UNWIND_MAPS_H
#define JITBPF_BPF_UNWIND_MAPS_H

#include "bpf/maps.h"
#include "uapi/unwind.h"

/*
 * Preallocated, since before Linux 6.1 perf_event programs cannot use other hash maps. On newer
 * kernels, user/agent/live/live_programs.c turns preallocation off.
 */
struct unwind_pages_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNWIND_PAGES_MAX);
	__type(key, struct unwind_page_key);
	__type(value, struct unwind_page);
};

/* By pid in jitbpf's namespace. */
struct unwind_processes_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNWIND_PROCESSES_MAX);
	__type(key, __u32);
	__type(value, struct unwind_process);
};

/*
 * Incremented after pages of rows or processes were removed from the tables, also by user space.
 * Walks must not reuse callers that were found before.
 */
extern __u64 unwind_removals;

extern struct unwind_pages_map unwind_pages SEC(".maps");
extern struct unwind_processes_map unwind_processes SEC(".maps");

#endif
