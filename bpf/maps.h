/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps and constants that the programs share; defined once, in jit.bpf.c. */
#ifndef JITBPF_BPF_MAPS_H
#define JITBPF_BPF_MAPS_H

#include "bpf/kernel_types.h"

#include <bpf/bpf_helpers.h>

#include "uapi/kernel_maps.h"
#include "uapi/loss.h"

#define TRACKED_MAX   16384 /* a table of 65536 costs each run a millisecond more */
#define LOST_PIDS_MAX 4096
#define RING_DEFAULT  (1u << 20) /* user space sets the actual sizes */
#define OWNERS_KNOWN  16384	 /* a power of two */

/* Totals, in the order of uapi/loss.h. */
struct counters_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, JITBPF_COUNTER_MAX);
	__type(key, __u32);
	__type(value, __u64);
};

/* Processes to profile, by pid; used if only_tracked. The value is an enum jitbpf_tracked. */
struct tracked_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TRACKED_MAX);
	__type(key, __u32);
	__type(value, __u32);
};

/* Records other than samples: JIT records, machine code, inner pids, owners, exits. */
struct code_ring_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_DEFAULT);
};

/*
 * The owners that were reported last, as hashes, at a process's pid modulo OWNERS_KNOWN. Processes
 * that share a slot are reported more often than needed.
 */
struct owners_known_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, OWNERS_KNOWN);
	__type(key, __u32);
	__type(value, __u64);
};

extern struct code_ring_map code_ring SEC(".maps");
extern struct counters_map counters SEC(".maps");
extern struct tracked_map tracked SEC(".maps");
extern struct owners_known_map owners_known SEC(".maps");

/* Uprobe programs can be preempted and migrated, so per-CPU counters need atomics, too. */
static __always_inline void count(__u32 which)
{
	__u64 *value = bpf_map_lookup_elem(&counters, &which);

	if (value)
		__sync_fetch_and_add(value, 1);
}

#endif
