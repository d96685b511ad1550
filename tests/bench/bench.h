/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the benchmarks that are C programs share. Each is one file, so state is the program's. */
#ifndef JITBPF_TESTS_BENCH_BENCH_H
#define JITBPF_TESTS_BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static inline void require(bool ok)
{
	if (!ok)
		abort();
}

/* Returns the CPU time of the thread. */
static inline double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Returns the memory of the process that is not swapped out. */
static inline unsigned long resident_kb(void)
{
	unsigned long all, resident = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	require(file && fscanf(file, "%lu %lu", &all, &resident) == 2);
	fclose(file);
	return resident * (unsigned long)sysconf(_SC_PAGESIZE) / 1024;
}

/* Returns the next of a fixed sequence of numbers below the limit. */
static inline uint32_t random_below(uint32_t limit)
{
	static uint64_t state = 88172645463325252ull;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 32) % limit);
}

#endif
