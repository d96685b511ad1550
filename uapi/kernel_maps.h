/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys and values of the BPF maps that user space reads or writes, except for the unwind tables
 * (uapi/unwind.h). Pids are those of jitbpf's own pid namespace.
 */
#ifndef JITBPF_UAPI_KERNEL_MAPS_H
#define JITBPF_UAPI_KERNEL_MAPS_H

#include <linux/types.h>

/* Section of the programs that iterate over tasks (user/agent/live/live_programs.c). */
#define JITBPF_TASK_ITERATOR "jitbpf_task_iterator"

/* Entries of the array of sample rings: one ring per CPU, by its number. */
#define JITBPF_CPUS_MAX 1024

/*
 * Values of the map `tracked`, by pid: the processes to profile, if only_tracked is set
 * (bpf/pid_space.h). An entry outlives its process: while the kernel frees the memory of the
 * process, samples still count for it. User space removes the entry.
 */
enum jitbpf_tracked {
	JITBPF_TRACKED_LIVES = 1,
	JITBPF_TRACKED_EXITED = 2,
};

/*
 * Limit of the map `files_gone`, which has the pids of processes whose files were gone before they
 * were opened (user/agent/live/gone_files.h). The value has no meaning.
 */
#define JITBPF_FILES_GONE_MAX 256

/*
 * Key of the map `plain_programs`: the file of a program, as the kernel numbers it. The map has
 * programs that load no runtime whose frames are known soon after their exec. User space adds them,
 * and the oldest ones are replaced. The value has no meaning.
 */
struct jitbpf_program_file {
	__u64 inode;
	__u32 device;
	__u32 reserved;
};

#define JITBPF_PLAIN_PROGRAMS_MAX 1024

/* Key of the map `lost_samples`, which counts the lost samples of a process and event (__u64). */
struct jitbpf_lost_key {
	__u64 start_ns; /* start of the process: tells reused pids apart */
	__u32 pid;
	__u32 event;
};

/* Key of the map `jit_losses`. */
struct jitbpf_jit_loss_key {
	__u32 pid;
	__u32 publisher; /* enum jitbpf_publisher: SHIM or JVMTI */
};

/*
 * Value of the map `jit_losses`: JIT records of a publisher in a process that were lost. User space
 * removes the entry, and then reads the publisher's journal from first_sequence on.
 */
struct jitbpf_jit_loss {
	__u64 start_ns;	      /* start of the process: tells reused pids apart */
	__u64 first_ns;	      /* time of the hit that was noted first; CLOCK_MONOTONIC */
	__u64 first_sequence; /* the lowest sequence number that was lost */
};

_Static_assert(sizeof(struct jitbpf_program_file) == 16, "ABI");
_Static_assert(sizeof(struct jitbpf_lost_key) == 16, "ABI");
_Static_assert(sizeof(struct jitbpf_jit_loss_key) == 8, "ABI");
_Static_assert(sizeof(struct jitbpf_jit_loss) == 24, "ABI");

/* Limits of the lists that choose the sampled processes (bpf/sample_filter.h). */
#define JITBPF_FILTER_NAMES_MAX	  8
#define JITBPF_FILTER_USERS_MAX	  8
#define JITBPF_FILTER_CGROUPS_MAX 16
#define JITBPF_FILTER_NAME_BYTES  64 /* with the NUL */

#endif
