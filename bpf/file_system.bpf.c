/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds out whether reading a file can wait for a process. The registration of a uprobe reads the
 * file while all forks of the machine wait for it. User space writes the number of a descriptor of
 * its own, and runs the program. The file system is not asked: it may not answer.
 */
#include "bpf/kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define FUSE_MAGIC  0x65735546
#define TMPFS_MAGIC 0x01021994

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__u32 waiting_file = 0;

/*
 * Returns 1 for a FUSE file system, and for one that was mounted in a user namespace: an overlay
 * there has the files of any other file system below it. Only tmpfs has no other below it.
 */
SEC("syscall")
int may_wait_for_process(void *context)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct file **files = BPF_CORE_READ(task, files, fdt, fd);
	struct super_block *super;
	struct file *file = NULL;
	unsigned long magic;

	bpf_probe_read_kernel(&file, sizeof(file), &files[waiting_file]);
	super = BPF_CORE_READ(file, f_inode, i_sb);
	magic = BPF_CORE_READ(super, s_magic);
	if (!magic || magic == FUSE_MAGIC)
		return 1;
	return magic != TMPFS_MAGIC && BPF_CORE_READ(super, s_user_ns, level) > 0;
}
