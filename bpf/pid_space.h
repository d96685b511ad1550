/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pids as jitbpf's own pid namespace has them. */
#ifndef JITBPF_BPF_PID_SPACE_H
#define JITBPF_BPF_PID_SPACE_H

#include "bpf/maps.h"

#include <bpf/bpf_core_read.h>

/*
 * The inode of jitbpf's pid namespace, 0 where that is the outermost; and
 * whether only processes in `tracked` count. Set before loading.
 */
extern const volatile __u32 pidns_inum;
extern const volatile bool only_tracked;

#define PID_LEVELS_MAX 33 /* MAX_PID_NS_LEVEL and the outermost */

/* A task's number in our namespace; 0 where it has none there. */
static __always_inline __u32 pid_in_our_space(struct task_struct *task)
{
	struct pid *pid;
	struct upid upid;
	__u32 level;
	void *numbers;

	if (!pidns_inum)
		return BPF_CORE_READ(task, pid);
	pid = BPF_CORE_READ(task, thread_pid);
	level = BPF_CORE_READ(pid, level);
	/* One number for each namespace from the outermost in; the type shows just the first. */
	numbers = (void *)pid + bpf_core_field_offset(struct pid, numbers);
	for (__u32 i = 0; i < PID_LEVELS_MAX && i <= level; i++) {
		if (bpf_probe_read_kernel(&upid, sizeof(upid),
					  numbers + i * bpf_core_type_size(struct upid)))
			return 0;
		if (BPF_CORE_READ(upid.ns, ns.inum) == pidns_inum)
			return upid.nr;
	}
	return 0;
}

/* Its number in the innermost namespace that it is in: as it sees itself. */
static __always_inline __u32 pid_in_own_space(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level);
	struct upid upid;

	if (bpf_probe_read_kernel(&upid, sizeof(upid),
				  (void *)pid + bpf_core_field_offset(struct pid, numbers) +
					  (__u64)level * bpf_core_type_size(struct upid)))
		return 0;
	return upid.nr;
}

static __always_inline __u32 current_pid_in_our_space(struct task_struct *task)
{
	if (!pidns_inum)
		return bpf_get_current_pid_tgid() >> 32;
	return pid_in_our_space(BPF_CORE_READ(task, group_leader));
}

static __always_inline __u32 current_tid_in_our_space(struct task_struct *task)
{
	return pidns_inum ? pid_in_our_space(task) : (__u32)bpf_get_current_pid_tgid();
}

static __always_inline bool is_tracked(__u32 pid)
{
	return pid && (!only_tracked || bpf_map_lookup_elem(&tracked, &pid));
}

#endif
