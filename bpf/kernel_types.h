/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel types and fields that the programs read, instead of a generated vmlinux.h. CO-RE
 * finds fields by name in the BTF of the running kernel, so their offsets here do not matter.
 * User space lists these types (structs_read in user/agent/kernel/bpf/program_types.c), as
 * tests/layers/test_kernel_types.py checks.
 */
#ifndef JITBPF_BPF_KERNEL_TYPES_H
#define JITBPF_BPF_KERNEL_TYPES_H

#define __VMLINUX_H__ /* makes bpf_tracing.h use the kernel's register names */

#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
	unsigned int level;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

typedef struct {
	unsigned int val;
} kuid_t;

struct user_namespace {
	struct user_namespace *parent;
	int level;
	kuid_t owner;
};

struct cred {
	kuid_t uid, fsuid;
	struct user_namespace *user_ns;
};

struct kernfs_node {
	__u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct signal_struct {
	atomic_t live;
};

typedef struct {
	long counter;
} atomic_long_t;

struct rw_semaphore {
	atomic_long_t count, owner;
};

struct mm_struct {
	struct file *exe_file;
	unsigned long start_code, start_stack;
	struct rw_semaphore mmap_lock;
};

struct file_system_type {
	int fs_flags;
};

struct super_block {
	struct file_system_type *s_type;
	unsigned long s_magic;
	void *s_fs_info;
	struct user_namespace *s_user_ns;
	__u32 s_dev;
};

struct vfsmount {
	struct super_block *mnt_sb;
};

/* overlayfs may be a kernel module, so these two types may be missing in the kernel's BTF. */
struct ovl_layer {
	struct vfsmount *mnt;
};

struct ovl_fs {
	unsigned int numlayer;
	struct ovl_layer *layers;
};

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct qstr d_name;
};

struct path {
	struct dentry *dentry;
};

struct file {
	struct inode *f_inode;
	struct path f_path;
};

struct fdtable {
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct desc_struct {
	__u16 limit0;
};

struct thread_struct {
	struct desc_struct tls_array[3];
	unsigned long fsbase;
};

struct task_struct {
	unsigned int __state;
	unsigned int flags;
	struct mm_struct *mm;
	struct files_struct *files;
	int pid;
	int tgid;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	__u64 start_boottime;
	char comm[16];
	struct signal_struct *signal;
	struct thread_struct thread;
	const struct cred *real_cred;
	struct css_set *cgroups;
};

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx;
	unsigned long r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};

#pragma clang attribute pop

/* Registers in the context of uprobe and perf_event programs. This is ABI, so no CO-RE. */
struct context_regs {
	unsigned long r15, r14, r13, r12, bp, bx;
	unsigned long r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};

struct bpf_perf_event_data {
	struct context_regs regs;
	__u64 sample_period;
	__u64 addr;
};

struct seq_file;

/* The context of iterator programs; ABI as well. */
struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#define PF_KTHREAD 0x00200000

#endif
