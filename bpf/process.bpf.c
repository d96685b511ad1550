/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keeps the set of tracked processes: children of a tracked process are, until they exit. */
#include "bpf/maps.h"

#include <bpf/bpf_tracing.h>

#include "bpf/pid_space.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("tp_btf/sched_process_fork")
int BPF_PROG(track_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 parent_pid, child_pid, one = 1;

	if (child->pid != child->tgid)
		return 0; /* a thread */
	parent_pid = pid_in_our_space(parent->group_leader);
	child_pid = pid_in_our_space(child);
	if (parent_pid && child_pid && bpf_map_lookup_elem(&tracked, &parent_pid))
		bpf_map_update_elem(&tracked, &child_pid, &one, BPF_ANY);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(untrack_exit, struct task_struct *task)
{
	__u32 pid = pid_in_our_space(task->group_leader);

	if (task->signal->live.counter == 0)
		bpf_map_delete_elem(&tracked, &pid);
	return 0;
}
