/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Follows processes: which of them are tracked, and when they end. */
#include "bpf/maps.h"

#include <bpf/bpf_tracing.h>

#include "bpf/pid_space.h"
#include "uapi/record.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Children of a tracked process are tracked; a pid that is used again by others is not. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(track_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 parent_pid, child_pid, lives = TRACKED_LIVES;

	if (child->pid != child->tgid)
		return 0; /* a thread */
	parent_pid = pid_in_our_space(parent->group_leader);
	child_pid = pid_in_our_space(child);
	if (!child_pid)
		return 0;
	if (!parent_pid || !bpf_map_lookup_elem(&tracked, &parent_pid))
		bpf_map_delete_elem(&tracked, &child_pid);
	else if (bpf_map_update_elem(&tracked, &child_pid, &lives, BPF_ANY))
		count(JITBPF_COUNT_SIDEBAND_LOST);
	return 0;
}

/*
 * The side-band tells of each thread's exit, but not whether it was the last:
 * a process can outlive its first thread.
 */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(process_exit, struct task_struct *task)
{
	__u32 pid, exited = TRACKED_EXITED;
	struct jitbpf_task *out;

	if (task->signal->live.counter)
		return 0;
	pid = pid_in_our_space(task->group_leader);
	if (!is_tracked(pid))
		return 0;
	if (only_tracked)
		bpf_map_update_elem(&tracked, &pid, &exited, BPF_EXIST);
	out = bpf_ringbuf_reserve(&code_ring, sizeof(*out), 0);
	if (!out) {
		count(JITBPF_COUNT_SIDEBAND_LOST);
		return 0;
	}
	*out = (struct jitbpf_task){
		.h = {.size_bytes = sizeof(*out),
		      .type = JITBPF_EXIT,
		      .time_ns = bpf_ktime_get_ns()},
		.pid = pid,
		.tid = pid,
	};
	bpf_ringbuf_submit(out, BPF_RB_NO_WAKEUP);
	return 0;
}
