/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Times in ns. All records use CLOCK_MONOTONIC, which clock_now_ns() reads. */
#ifndef JITBPF_AGENT_CLOCK_H
#define JITBPF_AGENT_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_read_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t clock_now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

#endif
