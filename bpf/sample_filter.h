/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decides which of the tracked processes are sampled. A process must match one item of each list
 * that is not empty. User space sets the lists before the programs are loaded, so the verifier
 * drops the code of empty lists.
 */
#ifndef JITBPF_BPF_SAMPLE_FILTER_H
#define JITBPF_BPF_SAMPLE_FILTER_H

#include "bpf/kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "uapi/kernel_maps.h"

struct filter_name {
	__u64 words[JITBPF_FILTER_NAME_BYTES / sizeof(__u64)];
};

/* Names of processes or executed files, padded with zeros. */
const volatile __u32 filter_name_count = 0;
const volatile __u64 filter_names[JITBPF_FILTER_NAMES_MAX]
				 [JITBPF_FILTER_NAME_BYTES / sizeof(__u64)] = {0};

/* Real user IDs, as in the initial user namespace. */
const volatile __u32 filter_user_count = 0;
const volatile __u32 filter_users[JITBPF_FILTER_USERS_MAX] = {0};

const volatile __u32 filter_cgroup_count = 0;

/*
 * If set, processes that execute this file are not sampled. The device number is major << 20 |
 * minor.
 */
const volatile bool filter_skips_file = false;
const volatile __u64 filter_file_inode = 0;
const volatile __u32 filter_file_device = 0;

/* The names of processes that execute this file begin with this. */
static const char filter_role_name[] = "jitbpf";

/*
 * The first filter_cgroup_count entries are set; cgroup v2. A process is in its cgroup and in all
 * ancestors of it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, JITBPF_FILTER_CGROUPS_MAX);
	__type(key, __u32);
	__type(value, __u32);
} filter_cgroups SEC(".maps");

static __always_inline bool is_listed_name(const struct filter_name *name)
{
	for (__u32 i = 0; i < JITBPF_FILTER_NAMES_MAX && i < filter_name_count; i++) {
		__u64 differs = 0;

		for (__u32 word = 0; word < JITBPF_FILTER_NAME_BYTES / sizeof(__u64); word++)
			differs |= name->words[word] ^ filter_names[i][word];
		if (!differs)
			return true;
	}
	return false;
}

/* This function and those below are global, so that the verifier checks each once. */
__noinline int has_listed_name(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	struct filter_name name = {0};

	/* Copied up to its NUL, since bytes of an older name may follow. */
	bpf_core_read_str(&name, sizeof(task->comm), &leader->comm);
	if (is_listed_name(&name))
		return true;
	__builtin_memset(&name, 0, sizeof(name));
	bpf_probe_read_kernel_str(&name, sizeof(name),
				  BPF_CORE_READ(task, mm, exe_file, f_path.dentry, d_name.name));
	return is_listed_name(&name);
}

__noinline int has_listed_user(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u32 uid = BPF_CORE_READ(task, group_leader, real_cred, uid.val);

	for (__u32 i = 0; i < JITBPF_FILTER_USERS_MAX && i < filter_user_count; i++) {
		if (filter_users[i] == uid)
			return true;
	}
	return false;
}

__noinline int is_in_listed_cgroup(void)
{
	for (__u32 i = 0; i < JITBPF_FILTER_CGROUPS_MAX && i < filter_cgroup_count; i++) {
		if (bpf_current_task_under_cgroup(&filter_cgroups, i) == 1)
			return true;
	}
	return false;
}

/* Returns true if the name of a process begins with filter_role_name. */
static __always_inline bool has_role_name(struct task_struct *leader)
{
	char name[sizeof(filter_role_name) - 1];

	bpf_core_read(name, sizeof(name), &leader->comm);
	for (__u32 i = 0; i < sizeof(name); i++) {
		if (name[i] != filter_role_name[i])
			return false;
	}
	return true;
}

/*
 * A task that exits gives up its memory first, and with it what tells which file it executes. From
 * then on, only its name is left.
 */
__noinline int executes_skipped_file(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct inode *inode;

	if (!BPF_CORE_READ(task, mm))
		return !(BPF_CORE_READ(task, flags) & PF_KTHREAD) &&
		       has_role_name(BPF_CORE_READ(task, group_leader));
	inode = BPF_CORE_READ(task, mm, exe_file, f_inode);
	return BPF_CORE_READ(inode, i_ino) == filter_file_inode &&
	       BPF_CORE_READ(inode, i_sb, s_dev) == filter_file_device;
}

/* Returns true if the current process is sampled. */
static __always_inline bool is_sampled(void)
{
	if (filter_cgroup_count && !is_in_listed_cgroup())
		return false;
	if (filter_user_count && !has_listed_user())
		return false;
	if (filter_name_count && !has_listed_name())
		return false;
	return !filter_skips_file || !executes_skipped_file();
}

#endif
