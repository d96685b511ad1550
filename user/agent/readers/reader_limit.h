/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long the recorder waits for a reader process. The CPU time of the reader is limited: a
 * healthy reader on a busy machine waits for a CPU, which is not its fault. A reader that is
 * stopped, or sleeps, uses no CPU time; so the time that passes is limited too, to the same limit
 * and a multiple of the CPU time used.
 */
#ifndef JITBPF_AGENT_READERS_READER_LIMIT_H
#define JITBPF_AGENT_READERS_READER_LIMIT_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define READER_SLOWDOWN 20u /* time that may pass per CPU time used */

struct reader_limit {
	clockid_t clock;	 /* CPU time of the process; CLOCK_MONOTONIC: it is not known */
	uint64_t max_ns;	 /* of CPU time */
	uint64_t cpu_ns, now_ns; /* CLOCK_MONOTONIC; both at the begin */
};

/* The limit of a request to a process begins now. pid 0: a process that is not known yet. */
struct reader_limit reader_limit_begin(pid_t pid, uint64_t max_ns);

/* Time passed for which the reader is not responsible. */
void reader_limit_excuse(struct reader_limit *limit, uint64_t time_ns);

/* Returns for how many ms to wait before the next call, or 0 if the limit is exceeded. */
int reader_limit_left_ms(const struct reader_limit *limit);

#endif
