/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A uprobe with a BPF program. Adding or removing it walks the memory maps of all processes that
 * map the file, and blocks all forks of the machine during the walk. A link of kind "uprobe_multi"
 * (Linux 6.6) needs one walk. A perf event needs two, and between the two walks of a removal, each
 * process can see that the probe's semaphore was decremented. So the link is used where the kernel
 * has it.
 */
#ifndef JITBPF_AGENT_KERNEL_BPF_UPROBE_H
#define JITBPF_AGENT_KERNEL_BPF_UPROBE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The value of BPF_TRACE_UPROBE_MULTI, which older headers lack. */
#define UPROBE_MULTI_TYPE 48

/* Where a uprobe is added. The descriptors are borrowed. */
struct uprobe_target {
	int file_fd;	/* of the file; O_PATH is enough */
	int program_fd; /* gets `cookie` with each hit */
	uint64_t offset, semaphore_offset, cookie;
	pid_t pid; /* 0: all processes */
};

/* Its descriptors, owned. The uprobe is removed when all duplicates of them are closed. */
struct uprobe {
	int event, link; /* -1: none */
};

#define UPROBE_NONE ((struct uprobe){-1, -1})

/*
 * Returns true if the kernel has links of that kind. Programs are then loaded with the expected
 * attach type UPROBE_MULTI_TYPE, otherwise with none.
 */
bool uprobe_multi_works(void);

/* Returns 0 or a negative errno. */
int uprobe_add(const struct uprobe_target *target, struct uprobe *ret);

/*
 * Add a uprobe in a file of our own that nobody maps. The kernel has a semaphore that blocks forks.
 * If it was not used in the last milliseconds, a registration or removal first waits for a grace
 * period of RCU, 10 to 40 ms, and then takes the locks of memory maps. After a call of this
 * function, it takes these locks at once. Returns 0 or a negative errno.
 */
int uprobe_add_nowhere(struct uprobe *ret);

/* Close the descriptors. No effect on UPROBE_NONE. */
void uprobe_close(struct uprobe *uprobe);

#endif
