/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tracks children of tracked processes, and reports exits, inner pids and owners. */
#include "bpf/maps.h"

#include <bpf/bpf_tracing.h>

#include "bpf/owner.h"
#include "bpf/pid_space.h"
#include "uapi/record.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Tracks the children of a tracked process. Untracks a pid that another child reuses. */
static __always_inline void track(struct task_struct *parent, __u32 child_pid)
{
	__u32 parent_pid = pid_in_our_space(BPF_CORE_READ(parent, group_leader)),
	      lives = JITBPF_TRACKED_LIVES;

	if (!parent_pid || !bpf_map_lookup_elem(&tracked, &parent_pid))
		bpf_map_delete_elem(&tracked, &child_pid);
	else if (bpf_map_update_elem(&tracked, &child_pid, &lives, BPF_ANY))
		count(JITBPF_COUNT_SIDEBAND_LOST);
}

/*
 * Reports the pid in the process's own namespace if it differs. A short process may exit before its
 * entry in /proc is read.
 */
static __always_inline void tell_inner_pid(struct task_struct *task, __u32 pid)
{
	__u32 inner_pid = pid_in_own_space(task);
	struct jitbpf_inner_pid *out;

	if (inner_pid == pid || !inner_pid)
		return;
	out = bpf_ringbuf_reserve(&code_ring, sizeof(*out), 0);
	if (!out) {
		count(JITBPF_COUNT_SIDEBAND_LOST);
		return;
	}
	*out = (struct jitbpf_inner_pid){
		.h = {.size_bytes = sizeof(*out),
		      .type = JITBPF_INNER_PID,
		      .time_ns = bpf_ktime_get_ns()},
		.pid = pid,
		.inner_pid = inner_pid,
		.start_ns = BPF_CORE_READ(task, start_boottime),
	};
	bpf_ringbuf_submit(out, BPF_RB_NO_WAKEUP);
}

SEC("raw_tp/sched_process_fork")
int BPF_PROG(process_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 child_pid;

	if (BPF_CORE_READ(child, pid) != BPF_CORE_READ(child, tgid))
		return 0; /* a thread */
	child_pid = pid_in_our_space(child);
	if (!child_pid)
		return 0;
	if (only_tracked)
		track(parent, child_pid);
	if (is_tracked(child_pid)) {
		tell_inner_pid(child, child_pid);
		tell_owner(child, child_pid, bpf_ktime_get_ns());
	}
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, JITBPF_PLAIN_PROGRAMS_MAX);
	__type(key, struct jitbpf_program_file);
	__type(value, __u32);
} plain_programs SEC(".maps");

/*
 * Reports a program that may load a runtime, and wakes the reader: until the frames of the runtime
 * are known, samples lack its functions.
 */
static __always_inline void tell_program(struct task_struct *task, __u32 pid)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct inode *inode = BPF_CORE_READ(mm, exe_file, f_inode);
	struct jitbpf_program out = {
		.h = {.size_bytes = sizeof(out),
		      .type = JITBPF_PROGRAM,
		      .time_ns = bpf_ktime_get_ns()},
		.pid = pid,
		.stack_top = BPF_CORE_READ(mm, start_stack),
		.file = {.inode = BPF_CORE_READ(inode, i_ino),
			 .device = BPF_CORE_READ(inode, i_sb, s_dev)},
	};

	if (!bpf_map_lookup_elem(&plain_programs, &out.file))
		bpf_ringbuf_output(&code_ring, &out, sizeof(out), BPF_RB_FORCE_WAKEUP);
}

/* A login changes the user after the fork, and executes a shell. */
SEC("raw_tp/sched_process_exec")
int BPF_PROG(process_exec, struct task_struct *task)
{
	__u32 pid = pid_in_our_space(task);

	if (!is_tracked(pid))
		return 0;
	tell_owner(task, pid, bpf_ktime_get_ns());
	tell_program(task, pid);
	return 0;
}

/* Time of the records of tell_owners(). */
__u64 owners_time_ns = 0;

/* Reports the owners of the processes that run before the profiler. User space runs it once. */
SEC(JITBPF_TASK_ITERATOR)
int tell_owners(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u32 pid;

	if (!task || task->pid != task->tgid || task->flags & PF_KTHREAD)
		return 0;
	pid = pid_in_our_space(task);
	if (is_tracked(pid))
		tell_owner(task, pid, owners_time_ns);
	return 0;
}

/*
 * Reports the exit of the last thread. The side-band reports every thread's exit, but not
 * which one is the last; a process can outlive its first thread.
 */
SEC("raw_tp/sched_process_exit")
int BPF_PROG(process_exit, struct task_struct *task)
{
	__u32 pid, exited = JITBPF_TRACKED_EXITED;
	struct jitbpf_task *out;

	if (BPF_CORE_READ(task, signal, live.counter))
		return 0;
	pid = pid_in_our_space(BPF_CORE_READ(task, group_leader));
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
