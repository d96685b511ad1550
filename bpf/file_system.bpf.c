/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds out whether reading a file can wait for a process. The registration of a uprobe reads the
 * file while all forks of the machine wait for it. User space writes the number of a descriptor of
 * its own, and runs the program. The program reads kernel structures only: a file system that is
 * asked may never answer.
 *
 * Only the file systems listed here are accepted: an unknown one may have files of a FUSE file
 * system below it.
 *
 * In an overlay, the kernel registers the probe in the real file of a layer. Until then, the owner
 * of the overlay can change which file that is: a write copies the file to the uppermost layer. So
 * all layers are examined. They stay the same while the overlay is mounted.
 */
#include "bpf/kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define FS_REQUIRES_DEV 1   /* of file_system_type.fs_flags */
#define LAYERS_MAX	128 /* as many as images have */

enum magic {
	FUSE_MAGIC = 0x65735546,
	OVERLAY_MAGIC = 0x794c7630,
	/* In memory: */
	RAMFS_MAGIC = 0x858458f6,
	TMPFS_MAGIC = 0x01021994,
	/* On disks or servers that root has chosen, without FS_REQUIRES_DEV: */
	CEPH_MAGIC = 0x00c36400,
	CIFS_MAGIC = 0xff534d42,
	NFS_MAGIC = 0x6969,
	SMB2_MAGIC = 0xfe534d42,
	V9FS_MAGIC = 0x01021997,
	ZFS_MAGIC = 0x2fc12fc1,
};

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__u32 waiting_file = 0;

/*
 * Returns 0 if a file system has no other file system below it, and no process serves it. Functions
 * that are called in loops are global: they are verified once, and not for each turn.
 */
__noinline int plain_may_wait(__u64 super_)
{
	struct super_block *super = (struct super_block *)super_;
	unsigned long magic = BPF_CORE_READ(super, s_magic);

	if (magic == TMPFS_MAGIC || magic == RAMFS_MAGIC)
		return 0;
	if (magic == FUSE_MAGIC || BPF_CORE_READ(super, s_user_ns, level) > 0)
		return 1;
	if (BPF_CORE_READ(super, s_type, fs_flags) & FS_REQUIRES_DEV)
		return 0;
	return magic != CEPH_MAGIC && magic != CIFS_MAGIC && magic != NFS_MAGIC &&
	       magic != SMB2_MAGIC && magic != V9FS_MAGIC && magic != ZFS_MAGIC;
}

static __always_inline bool is_overlay(struct super_block *super)
{
	return BPF_CORE_READ(super, s_magic) == OVERLAY_MAGIC;
}

/* Returns the file system of a layer. The uppermost layer is NULL if the overlay is read-only. */
static __always_inline struct super_block *layer_of(struct ovl_fs *overlay, __u32 number)
{
	struct ovl_layer *layer;

	if (!bpf_core_type_exists(struct ovl_fs)) /* the module was not loaded at the start */
		return 0;
	layer = (void *)((__u64)BPF_CORE_READ(overlay, layers) +
			 number * bpf_core_type_size(struct ovl_layer));
	return BPF_CORE_READ(layer, mnt, mnt_sb);
}

#define LAYERS_PIECE 8 /* loops of this length are cheap to verify */

_Static_assert(LAYERS_MAX % LAYERS_PIECE == 0, "whole pieces");

/* Returns the number of an overlay's layers, or 0 if it is not known or too large. */
static __always_inline __u32 count_layers(struct ovl_fs *overlay)
{
	__u32 count;

	if (!bpf_core_type_exists(struct ovl_fs))
		return 0;
	count = BPF_CORE_READ(overlay, numlayer);
	return count <= LAYERS_MAX ? count : 0;
}

/* Overlays are at most two deep. */
__noinline int lower_piece_may_wait(__u64 overlay, __u32 from)
{
	__u32 count = count_layers((struct ovl_fs *)overlay);

	if (!bpf_core_type_exists(struct ovl_fs)) /* the code below cannot be loaded without it */
		return 1;
	for (__u32 i = 0; i < LAYERS_PIECE && from + i < count; i++) {
		struct super_block *layer = layer_of((struct ovl_fs *)overlay, from + i);

		if (layer ? plain_may_wait((__u64)layer) : from + i > 0)
			return 1;
	}
	return 0;
}

__noinline int lower_layers_may_wait(__u64 overlay)
{
	if (!count_layers((struct ovl_fs *)overlay))
		return 1;
	for (__u32 from = 0; from < LAYERS_MAX; from += LAYERS_PIECE) {
		if (lower_piece_may_wait(overlay, from))
			return 1;
	}
	return 0;
}

__noinline int layer_may_wait(__u64 overlay, __u32 number)
{
	struct super_block *layer = layer_of((struct ovl_fs *)overlay, number);

	if (!layer)
		return number > 0;
	return is_overlay(layer) ? lower_layers_may_wait((__u64)BPF_CORE_READ(layer, s_fs_info))
				 : plain_may_wait((__u64)layer);
}

__noinline int piece_may_wait(__u64 overlay, __u32 from)
{
	__u32 count = count_layers((struct ovl_fs *)overlay);

	for (__u32 i = 0; i < LAYERS_PIECE && from + i < count; i++) {
		if (layer_may_wait(overlay, from + i))
			return 1;
	}
	return 0;
}

static __always_inline int layers_may_wait(struct super_block *super)
{
	struct ovl_fs *overlay = BPF_CORE_READ(super, s_fs_info);

	if (!count_layers(overlay))
		return 1;
	for (__u32 from = 0; from < LAYERS_MAX; from += LAYERS_PIECE) {
		if (piece_may_wait((__u64)overlay, from))
			return 1;
	}
	return 0;
}

/* Returns 0 if no read of the file can wait for a process, 1 if it may. */
SEC("syscall")
int may_wait_for_process(void *context)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct file **files = BPF_CORE_READ(task, files, fdt, fd);
	struct super_block *super;
	struct file *file = NULL;

	bpf_probe_read_kernel(&file, sizeof(file), &files[waiting_file]);
	super = BPF_CORE_READ(file, f_inode, i_sb);
	return is_overlay(super) ? layers_may_wait(super) : plain_may_wait((__u64)super);
}
