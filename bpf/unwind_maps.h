/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Those of the tables that user space fills (uapi/unwind.h) which several programs share;
 * defined once, in jit.bpf.c. bpf/unwind_walk.h has the others.
 */
#ifndef JITBPF_BPF_UNWIND_MAPS_H
#define JITBPF_BPF_UNWIND_MAPS_H

#include "bpf/maps.h"
#include "uapi/unwind.h"

/* Preallocated: programs of perf events can look into nothing else before 6.1. */
struct unwind_pages_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNWIND_PAGES_MAX);
	__type(key, struct unwind_page_key);
	__type(value, struct unwind_page);
};

/* By pid as jitbpf sees it. */
struct unwind_processes_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNWIND_PROCESSES_MAX);
	__type(key, __u32);
	__type(value, struct unwind_process);
};

extern struct unwind_pages_map unwind_pages SEC(".maps");
extern struct unwind_processes_map unwind_processes SEC(".maps");

#endif
