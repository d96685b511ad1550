/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Declarations shared by the modes of the test engine. */
#ifndef JITBPF_ENGINE_ENGINE_H
#define JITBPF_ENGINE_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "jitapi-shim/payload.h"
#include "tests/programs/engine/code.h"
#include "tests/programs/engine/dump.h"
#include "tests/programs/engine/jit_client.h"
#include "tests/programs/engine/options.h"

struct engine {
	struct options options;
	struct jit_client client;
	struct dump dump;
	struct arena arena; /* options.threads * options.slots */
	_Atomic uint32_t next_id;
	_Atomic uint32_t next_generation;
};

/* A thread of an engine, and its counters. */
struct worker {
	struct engine *engine;
	size_t first_slot;
	uint64_t rate;	 /* loads per second; 0 is as fast as possible */
	uint64_t end_ns; /* of CLOCK_MONOTONIC */
	uint64_t cpu_ns; /* of the thread: until then it goes on, even past end_ns */
	uint64_t loads;
	uint64_t calls;
	uint64_t load_cpu_ns;
};

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static inline void sleep_ns(uint64_t ns)
{
	struct timespec ts = {.tv_sec = (time_t)(ns / 1000000000u),
			      .tv_nsec = (long)(ns % 1000000000u)};

	nanosleep(&ts, NULL);
}

/*
 * Returns true once a thread has run for long enough. On a busy machine it runs past end_ns, until
 * it has used as much CPU time as on an idle machine, so that the number of samples is the same.
 */
static inline bool worker_is_done(const struct worker *worker)
{
	return clock_ns(CLOCK_MONOTONIC) >= worker->end_ns &&
	       clock_ns(CLOCK_THREAD_CPUTIME_ID) >= worker->cpu_ns;
}

/* Write the slot's next function, report it to the collector and in the dump, then allow calls of
 * it. */
void engine_load(struct engine *engine, uint8_t *code, const char *name, uint32_t generation);

/* Run options.threads workers and add up their counters. Returns 0 or a negative errno. */
int workers_run(struct engine *engine, void (*work)(struct worker *worker), struct worker *ret_sum);

/* The modes. Each returns the exit status of the program. */
int storm_mode(struct engine *engine);
int hot_mode(struct engine *engine);
int frames_mode(struct engine *engine);
int deep_mode(struct engine *engine);
int loads_mode(struct engine *engine);
int api_mode(struct engine *engine);
int hostile_mode(struct engine *engine);
int stale_mode(struct engine *engine);

#endif
