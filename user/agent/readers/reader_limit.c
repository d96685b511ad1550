/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/readers/reader_limit.h"

#include <stdbool.h>

#include "agent/clock.h"

#define WAIT_MAX_MS 60000
#define QUEUED_MS   20 /* from one look at a reader that waits for a CPU to the next */

const struct reader_meter reader_meter_unknown = {
	.clock = CLOCK_MONOTONIC,
	.reader = {-1, -1},
	.recorder = {-1, -1},
};

void reader_meter_open(pid_t pid, int pidfd, struct reader_meter *ret)
{
	if (clock_getcpuclockid(pid, &ret->clock))
		ret->clock = CLOCK_MONOTONIC;
	cpu_wait_open(pidfd, &ret->reader);
	cpu_wait_open_own(&ret->recorder);
}

void reader_meter_close(struct reader_meter *meter)
{
	cpu_wait_close(&meter->reader);
	cpu_wait_close(&meter->recorder);
	*meter = reader_meter_unknown;
}

/* A process that has exited has no clock: its socket is closed. */
static uint64_t read_cpu_ns(clockid_t clock, uint64_t otherwise_ns)
{
	struct timespec time;

	if (clock_gettime(clock, &time))
		return otherwise_ns;
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* The recorder waits while it has not read an answer, or a call, that the reader has sent. */
static uint64_t read_waited_ns(const struct reader_meter *meter)
{
	return cpu_wait_ns(&meter->reader) + cpu_wait_ns(&meter->recorder);
}

struct reader_limit reader_limit_begin(const struct reader_meter *meter, uint64_t max_ns)
{
	return (struct reader_limit){
		.meter = meter,
		.max_ns = max_ns,
		.cpu_ns = read_cpu_ns(meter->clock, 0),
		.now_ns = clock_now_ns(),
		.waited_ns = read_waited_ns(meter),
	};
}

void reader_limit_excuse(struct reader_limit *limit, uint64_t time_ns)
{
	limit->now_ns += time_ns;
	if (limit->meter->clock == CLOCK_MONOTONIC)
		limit->cpu_ns += time_ns;
}

/* Returns the part of a time that passed in which neither process waited for a CPU. */
static uint64_t without_waits(const struct reader_limit *limit, uint64_t passed_ns)
{
	uint64_t waited_ns = read_waited_ns(limit->meter);

	/* The value is lower than before if the reader has exited: its waits are unknown then. */
	waited_ns = waited_ns > limit->waited_ns ? waited_ns - limit->waited_ns : 0;
	return passed_ns > waited_ns ? passed_ns - waited_ns : 0;
}

int reader_limit_left_ms(const struct reader_limit *limit)
{
	uint64_t passed_ns = clock_now_ns() - limit->now_ns;
	uint64_t cpu_ns = read_cpu_ns(limit->meter->clock, limit->cpu_ns) - limit->cpu_ns;
	uint64_t passed_max_ns = limit->max_ns + READER_SLOWDOWN * cpu_ns;
	uint64_t left_ns, left_ms;

	if (cpu_ns >= limit->max_ns)
		return 0;
	if (passed_ns >= passed_max_ns) {
		/*
		 * Read the state first: a wait that ends between the two reads is then included in
		 * the waited time.
		 */
		bool is_runnable = cpu_wait_is_runnable(&limit->meter->reader);

		passed_ns = without_waits(limit, passed_ns);
		if (passed_ns >= passed_max_ns)
			return is_runnable ? QUEUED_MS : 0;
	}
	left_ns = limit->max_ns - cpu_ns;
	if (passed_max_ns - passed_ns < left_ns)
		left_ns = passed_max_ns - passed_ns;
	left_ms = left_ns / 1000000 + 1;
	return left_ms < WAIT_MAX_MS ? (int)left_ms : WAIT_MAX_MS;
}
