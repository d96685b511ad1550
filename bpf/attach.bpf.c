/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The programs that attaching to probes needs. They are in an object of their own that is loaded
 * first, so they run while the other objects are loaded.
 *
 * find_lock_holders() finds processes whose memory map is locked by a thread that sleeps.
 * Registering a uprobe in a file waits for the maps of all processes that have mapped it, and all
 * forks of the machine wait for the registration. The program only reads the words of the locks,
 * and never waits for a lock.
 */
#include "bpf/kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/pid_space.h"
#include "uapi/kernel_maps.h"
#include "uapi/lock_holder.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile __u32 pidns_inum = 0;

__u64 self_test_hits = 0;

/* Of kernel/locking/rwsem.c. */
#define RWSEM_WRITER_LOCKED 1
#define RWSEM_READER_SHIFT  8
#define RWSEM_OWNER_FLAGS   7ull

/* Returns the lock's owner word if its owner sleeps, or 0. */
static __always_inline __u64 sleeping_owner(struct mm_struct *mm)
{
	long held = BPF_CORE_READ(mm, mmap_lock.count.counter);
	struct task_struct *task;
	__u64 owner;

	if (!(held & RWSEM_WRITER_LOCKED) && held >> RWSEM_READER_SHIFT <= 0)
		return 0;
	owner = (__u64)BPF_CORE_READ(mm, mmap_lock.owner.counter);
	task = (struct task_struct *)(owner & ~RWSEM_OWNER_FLAGS);
	return task && BPF_CORE_READ(task, __state) ? owner : 0;
}

/* Writes a struct jitbpf_lock_holder for each such process, or for each of its threads. */
SEC(JITBPF_TASK_ITERATOR)
int find_lock_holders(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task, *leader;
	struct jitbpf_lock_holder holder = {0};
	struct mm_struct *mm = NULL;

	/* With CONFIG_PREEMPT_RT the lock has other fields. */
	if (!task || !bpf_core_field_exists(mm->mmap_lock.owner))
		return 0;
	mm = BPF_CORE_READ(task, mm);
	if (!mm || BPF_CORE_READ(task, flags) & PF_KTHREAD)
		return 0;
	leader = BPF_CORE_READ(task, group_leader);
	/* The other threads have the same memory, unless the first one has ended. */
	if (leader != task && BPF_CORE_READ(leader, mm) == mm)
		return 0;
	holder.owner = sleeping_owner(mm);
	if (!holder.owner)
		return 0;
	holder.pid = pid_in_our_space(leader);
	holder.uid = BPF_CORE_READ(leader, real_cred, uid.val);
	holder.start_ns = BPF_CORE_READ(leader, start_boottime);
	bpf_seq_write(ctx->meta->seq, &holder, sizeof(holder));
	return 0;
}

/* Attached to jitbpf only, to test whether a probe at an offset of the site fires. */
SEC("uprobe")
int self_test(struct context_regs *regs)
{
	__sync_fetch_and_add(&self_test_hits, 1);
	return 0;
}
