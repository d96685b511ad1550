/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long a thread was runnable and waited for a CPU: the scheduler's run delay. Unknown where the
 * kernel does not count it (CONFIG_SCHED_INFO), or where /proc cannot be read.
 */
#ifndef JITBPF_AGENT_KERNEL_PROC_CPU_WAIT_H
#define JITBPF_AGENT_KERNEL_PROC_CPU_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/patience.h"

/* Files of one thread, which never refer to a later thread with its number. -1: unknown. */
struct cpu_wait {
	int schedstat, stat;
	/* Of a patience: the last reading, which holds for CPU_WAIT_READING_NS. */
	uint64_t read_ns, waited_ns;
};

#define CPU_WAIT_UNKNOWN ((struct cpu_wait){-1, -1, 0, 0})

/* A reading takes system calls, and many parts of a round look at the clock of limits. */
#define CPU_WAIT_READING_NS 1000000ull

/* Open the files of the main thread of a process. *ret needs cpu_wait_close(). */
void cpu_wait_open(int pidfd, struct cpu_wait *ret);

/* Open those of the calling thread. */
void cpu_wait_open_own(struct cpu_wait *ret);

/* Close the files. The time is unknown from then on. */
void cpu_wait_close(struct cpu_wait *wait);

/*
 * Returns the time in ns for which the thread has waited so far, without its present wait; or 0 if
 * it is unknown.
 */
uint64_t cpu_wait_ns(const struct cpu_wait *wait);

/* Make a clock of patience with the waits of the calling thread. Borrows wait. */
void cpu_wait_init_patience(struct cpu_wait *wait, struct patience *ret);

/* Returns true if the wait is known and the thread runs, or waits for a CPU. */
bool cpu_wait_is_runnable(const struct cpu_wait *wait);

#endif
