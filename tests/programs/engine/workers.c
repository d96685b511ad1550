/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Threads that generate, publish and run code. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "tests/programs/engine/engine.h"
#include "uapi/jit_record.h"

#define NS		1000000000ull
#define LOADS_PAUSE_NS	1000000u /* between the bursts of loads mode */
#define LOADS_BURST_MAX 1000u

void engine_load(struct engine *engine, uint8_t *code, const char *name, uint32_t generation)
{
	struct jitapi_load load = {
		.method.id = atomic_fetch_add(&engine->next_id, 1),
		.method.name = name,
		.method.address = (uintptr_t)code,
		.method.size_bytes = (uint32_t)engine->options.code_bytes,
	};

	code_write(code, engine->options.code_bytes, generation,
		   (uint32_t)engine->options.iterations);
	jit_client_notify(&engine->client, JIT_EVENT_LOAD, &load);
	dump_load(&engine->dump, code, engine->options.code_bytes, name);
}

/* Returns the number of loads that are due by now; the first is due at once. */
static uint64_t loads_due(const struct worker *worker, uint64_t start_ns)
{
	uint64_t elapsed_ns = clock_ns(CLOCK_MONOTONIC) - start_ns;

	return 1 + (uint64_t)((__uint128_t)elapsed_ns * worker->rate / NS);
}

static void storm_rewrite(struct worker *worker)
{
	struct engine *engine = worker->engine;
	size_t slot = worker->first_slot + worker->loads++ % engine->options.slots;
	uint32_t generation = atomic_fetch_add(&engine->next_generation, 1);
	char name[32];

	snprintf(name, sizeof(name), "gen_%" PRIu32, generation);
	engine_load(engine, arena_slot(&engine->arena, slot), engine->options.name ?: name,
		    generation);
}

/* At least one call between two bursts of rewrites; a burst rewrites each slot at most once. */
static void storm_work(struct worker *worker)
{
	struct engine *engine = worker->engine;
	uint64_t slots = engine->options.slots;
	uint64_t start_ns = clock_ns(CLOCK_MONOTONIC), due, written;

	while (!worker_is_done(worker)) {
		due = worker->rate ? loads_due(worker, start_ns) : worker->loads + 1;
		if (engine->options.loads && (!worker->rate || due > engine->options.loads))
			due = engine->options.loads;
		for (uint64_t i = 0; i < slots && worker->loads < due; i++)
			storm_rewrite(worker);
		written = worker->loads < slots ? worker->loads : slots;
		code_call(
			arena_slot(&engine->arena, worker->first_slot + worker->calls++ % written));
	}
}

static void hot_work(struct worker *worker)
{
	struct engine *engine = worker->engine;
	uint8_t *code = arena_slot(&engine->arena, worker->first_slot);
	const char *name = engine->options.name ? engine->options.name : "hot";

	engine_load(engine, code, name, atomic_fetch_add(&engine->next_generation, 1));
	worker->loads++;
	while (!worker_is_done(worker)) {
		code_call(code);
		worker->calls++;
	}
}

/* A cheap way to make a new name each time. */
static void digits_increment(char *digits, size_t count)
{
	while (count-- && ++digits[count] > '9')
		digits[count] = '0';
}

static void loads_work(struct worker *worker)
{
	struct engine *engine = worker->engine;
	size_t size = engine->options.bytes - sizeof(struct jitbpf_jit_header) -
		      sizeof(struct jitbpf_jit_field);
	AUTO_FREE char *name = malloc(size + 1);
	uint64_t start_ns = clock_ns(CLOCK_MONOTONIC), due, cpu_ns;
	struct jitapi_load load = {
		.method.name = name,
		.method.size_bytes = (uint32_t)engine->options.code_bytes,
	};

	if (!name)
		return;
	memset(name, 'x', size);
	memset(name, '0', 10);
	name[size] = 0;
	while (clock_ns(CLOCK_MONOTONIC) < worker->end_ns) {
		due = worker->rate ? loads_due(worker, start_ns) : UINT64_MAX;
		cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		for (uint32_t i = 0; i < LOADS_BURST_MAX && worker->loads < due; i++) {
			size_t slot = worker->first_slot + worker->loads++ % engine->options.slots;

			digits_increment(name, 10);
			load.method.id++;
			load.method.address = (uintptr_t)arena_slot(&engine->arena, slot);
			jit_client_notify(&engine->client, JIT_EVENT_LOAD, &load);
		}
		worker->load_cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
		if (worker->loads >= due)
			sleep_ns(LOADS_PAUSE_NS);
	}
}

struct thread {
	pthread_t handle;
	struct worker worker;
	void (*work)(struct worker *worker);
};

static void *thread_main(void *argument)
{
	struct thread *thread = argument;

	thread->work(&thread->worker);
	return NULL;
}

int workers_run(struct engine *engine, void (*work)(struct worker *worker), struct worker *ret_sum)
{
	uint32_t threads = (uint32_t)engine->options.threads, started = 1;
	/* A thread's share must not round down to 0, which means no limit. */
	uint64_t rate = engine->options.rate && engine->options.rate < threads
				? threads
				: engine->options.rate;
	uint64_t seconds_ns = (uint64_t)(engine->options.seconds * (double)NS);
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + seconds_ns;
	AUTO_FREE struct thread *all = calloc(threads, sizeof(*all));
	struct worker sum = {.engine = engine};
	int err = 0;

	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < threads; i++) {
		all[i].work = work;
		all[i].worker = (struct worker){
			.engine = engine,
			.first_slot = i * engine->options.slots,
			.rate = rate / threads + (i < rate % threads),
			.end_ns = end_ns,
			.cpu_ns = seconds_ns,
		};
	}
	/* The first worker is this thread, so that main() is the root of its stacks. */
	for (; started < threads && !err; started += !err)
		err = -pthread_create(&all[started].handle, NULL, thread_main, &all[started]);
	if (!err)
		thread_main(&all[0]);
	for (uint32_t i = 1; i < started; i++)
		pthread_join(all[i].handle, NULL);
	for (uint32_t i = 0; i < threads; i++) {
		sum.loads += all[i].worker.loads;
		sum.calls += all[i].worker.calls;
		sum.load_cpu_ns += all[i].worker.load_cpu_ns;
	}
	*ret_sum = sum;
	return err;
}

static int run_and_tell(struct engine *engine, void (*work)(struct worker *worker))
{
	struct worker sum;

	if (workers_run(engine, work, &sum))
		return 1;
	printf("loads %" PRIu64 " calls %" PRIu64 "\n", sum.loads, sum.calls);
	return 0;
}

int storm_mode(struct engine *engine)
{
	return run_and_tell(engine, storm_work);
}

int hot_mode(struct engine *engine)
{
	return run_and_tell(engine, hot_work);
}

int loads_mode(struct engine *engine)
{
	uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);
	struct worker sum;

	/* The code of each load is readable, in case the profiler copies it. */
	for (size_t i = 0; i < engine->arena.slots; i++)
		code_write(arena_slot(&engine->arena, i), engine->options.code_bytes, 0, 1);
	if (workers_run(engine, loads_work, &sum))
		return 1;
	printf("loads %" PRIu64 " seconds %.3f ns_per_load %.1f\n", sum.loads,
	       (double)(clock_ns(CLOCK_MONOTONIC) - start_ns) / (double)NS,
	       sum.loads ? (double)sum.load_cpu_ns / (double)sum.loads : 0);
	return 0;
}
