/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Translates pids to jitbpf's own pid namespace. */
#ifndef JITBPF_BPF_PID_SPACE_H
#define JITBPF_BPF_PID_SPACE_H

#include "bpf/maps.h"

#include <bpf/bpf_core_read.h>

/*
 * The inode of jitbpf's pid namespace (0: the outermost one), and whether to profile only the
 * processes in `tracked`. Set before loading.
 */
extern const volatile __u32 pidns_inum;
extern const volatile bool only_tracked;

#define PID_LEVELS_MAX 33 /* MAX_PID_NS_LEVEL and the outermost */

/* Returns a task's pid in jitbpf's namespace, or 0 if it is not visible there. */
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
	/* One number per namespace, outermost first; struct pid declares only the first. */
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

/* Returns a task's pid in its own (innermost) namespace, or 0 on failure. */
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
