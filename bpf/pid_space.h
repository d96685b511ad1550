/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pids as jitbpf's own pid namespace has them. */
#ifndef JITBPF_BPF_PID_SPACE_H
#define JITBPF_BPF_PID_SPACE_H

#include "bpf/maps.h"

#include <bpf/bpf_core_read.h>

/*
 * Depth and inode of jitbpf's pid namespace, and whether only processes in
 * `tracked` count; set before loading. Each program has its own copy of these.
 */
extern const volatile __u32 pidns_level;
extern const volatile __u32 pidns_inum;
extern const volatile bool only_tracked;

/* A task's number in our namespace; 0 where it has none there. */
static __always_inline __u32 pid_in_our_space(struct task_struct *task)
{
	struct pid *pid;
	struct upid upid;
	void *numbers;

	if (!pidns_level)
		return BPF_CORE_READ(task, pid);
	pid = BPF_CORE_READ(task, thread_pid);
	if (BPF_CORE_READ(pid, level) < pidns_level || pidns_level > 32)
		return 0;
	/* numbers[] has more than the one element that its type shows. */
	numbers = (void *)pid + bpf_core_field_offset(struct pid, numbers);
	if (bpf_probe_read_kernel(&upid, sizeof(upid),
				  numbers + pidns_level * bpf_core_type_size(struct upid)))
		return 0;
	if (BPF_CORE_READ(upid.ns, ns.inum) != pidns_inum)
		return 0;
	return upid.nr;
}

static __always_inline __u32 current_pid_in_our_space(struct task_struct *task)
{
	if (!pidns_level)
		return bpf_get_current_pid_tgid() >> 32;
	return pid_in_our_space(BPF_CORE_READ(task, group_leader));
}

static __always_inline bool is_tracked(__u32 pid)
{
	return pid && (!only_tracked || bpf_map_lookup_elem(&tracked, &pid));
}

#endif
