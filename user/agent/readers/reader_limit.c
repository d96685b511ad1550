/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/readers/reader_limit.h"

#include "agent/clock.h"

#define WAIT_MAX_MS 60000

/* A process that has exited has no clock: its socket is closed. */
static uint64_t read_cpu_ns(clockid_t clock, uint64_t otherwise_ns)
{
	struct timespec time;

	if (clock_gettime(clock, &time))
		return otherwise_ns;
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

struct reader_limit reader_limit_begin(pid_t pid, uint64_t max_ns)
{
	struct reader_limit limit = {
		.clock = CLOCK_MONOTONIC,
		.max_ns = max_ns,
		.now_ns = clock_now_ns(),
	};

	if (pid && clock_getcpuclockid(pid, &limit.clock))
		limit.clock = CLOCK_MONOTONIC;
	limit.cpu_ns = read_cpu_ns(limit.clock, 0);
	return limit;
}

void reader_limit_excuse(struct reader_limit *limit, uint64_t time_ns)
{
	limit->now_ns += time_ns;
	if (limit->clock == CLOCK_MONOTONIC)
		limit->cpu_ns += time_ns;
}

int reader_limit_left_ms(const struct reader_limit *limit)
{
	uint64_t passed_ns = clock_now_ns() - limit->now_ns;
	uint64_t cpu_ns = read_cpu_ns(limit->clock, limit->cpu_ns) - limit->cpu_ns;
	uint64_t passed_max_ns = limit->max_ns + READER_SLOWDOWN * cpu_ns;
	uint64_t left_ns, left_ms;

	if (cpu_ns >= limit->max_ns || passed_ns >= passed_max_ns)
		return 0;
	left_ns = limit->max_ns - cpu_ns;
	if (passed_max_ns - passed_ns < left_ns)
		left_ns = passed_max_ns - passed_ns;
	left_ms = left_ns / 1000000 + 1;
	return left_ms < WAIT_MAX_MS ? (int)left_ms : WAIT_MAX_MS;
}
