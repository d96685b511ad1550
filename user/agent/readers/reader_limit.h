/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long the recorder waits for a reader process. The CPU time of the reader is limited. A reader
 * that is stopped, or sleeps, uses no CPU time; so the elapsed time is limited, too: to the same
 * limit plus a multiple of the CPU time used. Time in which the reader or the recorder waits for a
 * CPU does not count, if the kernel counts it (agent/kernel/proc/cpu_wait.h): on a busy machine, a
 * healthy reader can wait for longer than any multiple of its CPU time.
 */
#ifndef JITBPF_AGENT_READERS_READER_LIMIT_H
#define JITBPF_AGENT_READERS_READER_LIMIT_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "agent/kernel/proc/cpu_wait.h"

#define READER_SLOWDOWN 20u /* time that may pass per CPU time used */

/* Measurements of a reader process, and of the thread that waits for it. */
struct reader_meter {
	clockid_t clock; /* CPU time of the process; CLOCK_MONOTONIC: it is not known */
	struct cpu_wait reader, recorder;
};

struct reader_limit {
	const struct reader_meter *meter;
	uint64_t max_ns;		    /* of CPU time */
	uint64_t cpu_ns, now_ns, waited_ns; /* at the begin; now_ns is of CLOCK_MONOTONIC */
};

/* The meter of a process that is not known yet: its limit applies to elapsed time. */
extern const struct reader_meter reader_meter_unknown;

/* The meter of a process, for the calling thread. *ret needs reader_meter_close(). */
void reader_meter_open(pid_t pid, int pidfd, struct reader_meter *ret);
void reader_meter_close(struct reader_meter *meter);

/* The limit of a request to a process begins now. Borrows the meter. */
struct reader_limit reader_limit_begin(const struct reader_meter *meter, uint64_t max_ns);

/* Time passed for which the reader is not responsible. */
void reader_limit_excuse(struct reader_limit *limit, uint64_t time_ns);

/* Returns for how many ms to wait before the next call, or 0 if the limit is exceeded. */
int reader_limit_left_ms(const struct reader_limit *limit);

#endif
