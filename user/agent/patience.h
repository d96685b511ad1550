/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The clock of limits of waiting for other processes. Its time is CLOCK_MONOTONIC without the time
 * in which this thread waited for a CPU: on a busy machine, a healthy process that is waited for
 * does not get a CPU, either. It passes at least 1/PATIENCE_SLOWEST as fast as CLOCK_MONOTONIC. So
 * a process that keeps all CPUs busy can make a wait that many times longer, but not endless.
 *
 * The clock belongs to one thread.
 */
#ifndef JITBPF_AGENT_PATIENCE_H
#define JITBPF_AGENT_PATIENCE_H

#include <stdint.h>

#define PATIENCE_SLOWEST 4u

struct patience {
	/*
	 * Returns the time of CLOCK_MONOTONIC, and sets *ret_waited_ns to the time for which the
	 * thread has waited for a CPU so far; 0: unknown.
	 */
	uint64_t (*read)(void *context, uint64_t *ret_waited_ns);
	void *context;		     /* borrowed */
	uint64_t read_ns, waited_ns; /* of the last reading */
	uint64_t time_ns;
};

/* Begin at the time of CLOCK_MONOTONIC. */
void patience_init(struct patience *patience, uint64_t (*read)(void *context, uint64_t *ret_ns),
		   void *context);

/* Returns the time in ns, which never goes back. NULL: the time of CLOCK_MONOTONIC. */
uint64_t patience_now_ns(struct patience *patience);

#endif
