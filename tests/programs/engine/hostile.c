/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends invalid events through the API, ten rounds per second. Between rounds
 * it runs one valid function, which the profiler must continue to name.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "tests/programs/engine/engine.h"
#include "tests/programs/engine/forge.h"

#define ROUND_NS   100000000u
#define HUGE_BYTES (1u << 20)
#define HUGE_LINES 1000001u

struct hostile {
	struct engine *engine;
	char *huge_name; /* HUGE_BYTES + 1 long, more than the shim copies */
	struct jitapi_line *huge_table;
	uint64_t events;
};

static void send(struct hostile *hostile, unsigned int event, void *data)
{
	jit_client_notify(&hostile->engine->client, event, data);
	hostile->events++;
}

static void send_load(struct hostile *hostile, uint32_t id, const char *name, uint64_t address,
		      uint32_t size_bytes)
{
	struct jitapi_load load = {
		.method.id = id,
		.method.name = name,
		.method.address = address,
		.method.size_bytes = size_bytes,
		.class_id = UINT32_MAX,
	};

	send(hostile, JIT_EVENT_LOAD, &load);
}

static void send_bad_ranges(struct hostile *hostile)
{
	uint64_t here = (uintptr_t)hostile->engine->arena.start;

	send_load(hostile, 1, "empty", here, 0);
	send_load(hostile, 2, "null", 0, 0x1000);
	send_load(hostile, 3, "wraps", UINT64_MAX - 15, UINT32_MAX);
	send_load(hostile, 4, "last byte", UINT64_MAX, 1);
	send_load(hostile, 5, "kernel", 0xffffffff81000000, 0x1000);
	send_load(hostile, 6, "non-canonical", 0x8000000000000000, 0x1000);
	send_load(hostile, 7, "swallows all", here - (1u << 30), UINT32_MAX);
	send_load(hostile, 0, "id 0", here, 64);
	send_load(hostile, UINT32_MAX, "libc is mine", (uintptr_t)(void *)strlen, 4096);
	/* One method with many regions, some at the same address. */
	for (uint32_t i = 0; i < 100; i++)
		send_load(hostile, 8, "split", here + i / 2, 64);
}

static void send_bad_names(struct hostile *hostile)
{
	uint64_t here = (uintptr_t)hostile->engine->arena.start;

	send_load(hostile, 10, NULL, here, 64);
	send_load(hostile, 11, "", here, 64);
	send_load(hostile, 12, hostile->huge_name, here, 64);
	send_load(hostile, 13, "a\nb;c d\te\033[2J\x07\x7f", here, 64);
	send_load(hostile, 14, "\xff\xfe\xc0\x80\xed\xa0\x80\xf5", here, 64);
	send_load(hostile, 15, "</script><img src=x onerror=alert(1)>&\"'`${}", here, 64);
	send_load(hostile, 16, "%s%n%1000000d", here, 64);
	send_load(hostile, 17,
		  "\xe2\x80\xae"
		  "drow",
		  here, 64); /* right-to-left override */
}

static void send_bad_tables(struct hostile *hostile)
{
	struct jitapi_load_v3 load = {
		.v2.method.id = 20,
		.v2.method.name = "lines",
		.v2.method.address = (uintptr_t)hostile->engine->arena.start,
		.v2.method.size_bytes = 64,
		.v2.method.lines = hostile->huge_table,
		.v2.method.line_count = HUGE_LINES,
		.v2.class_name = hostile->huge_name,
		.v2.source = hostile->huge_name,
		.v2.module = hostile->huge_name,
		.arch = 77,
	};

	send(hostile, JIT_EVENT_LOAD_V3, &load);
	load.v2.method.line_count = 1000;
	send(hostile, JIT_EVENT_LOAD_V2, &load.v2);
	load.v2.method.lines = NULL;
	load.v2.method.line_count = UINT32_MAX;
	send(hostile, JIT_EVENT_LOAD_V2, &load.v2);
}

static void send_bad_events(struct hostile *hostile)
{
	struct jitapi_load load = {.method.id = 0, .method.address = UINT64_MAX - 1};
	struct jitapi_inline_load self = {
		.method.id = 30,
		.method.parent_id = 30,
		.method.name = "its own parent",
		.method.address = (uintptr_t)hostile->engine->arena.start,
		.method.size_bytes = UINT32_MAX,
	};
	struct jitapi_update update = {.address = 1, .size_bytes = UINT32_MAX, .type = 99};
	uint32_t unknown_id = 0xdeadbeef;

	send(hostile, JIT_EVENT_UNLOAD, &unknown_id);
	send(hostile, JIT_EVENT_UNLOAD, &load); /* of an empty range */
	load.method.size_bytes = UINT32_MAX;
	send(hostile, JIT_EVENT_UNLOAD, &load); /* of a wrapping range */
	send(hostile, JIT_EVENT_INLINE_LOAD, &self);
	send(hostile, JIT_EVENT_UPDATE_V2, &update);
	for (unsigned int event = 0; event < 40; event++)
		send(hostile, event, NULL);
	send(hostile, 0x1000d, NULL);
	send(hostile, UINT32_MAX, NULL);
}

static int hostile_prepare(struct hostile *hostile)
{
	uint32_t random = 1;

	hostile->huge_name = malloc(HUGE_BYTES + 2);
	hostile->huge_table = malloc(HUGE_LINES * sizeof(*hostile->huge_table));
	if (!hostile->huge_name || !hostile->huge_table)
		return -1;
	memset(hostile->huge_name, 'H', HUGE_BYTES + 1);
	hostile->huge_name[HUGE_BYTES + 1] = 0;
	for (size_t i = 0; i < HUGE_LINES; i++) {
		random = random * 1664525u + 1013904223u;
		hostile->huge_table[i] = (struct jitapi_line){random, random ^ 0xffff};
	}
	return 0;
}

int hostile_mode(struct engine *engine)
{
	const char *name = engine->options.name ? engine->options.name : "honest";
	uint64_t end_ns, round_end_ns, calls = 0, forged = 0;
	struct hostile hostile = {.engine = engine};
	struct forge forge;
	int status = 1;

	if (hostile_prepare(&hostile) || (engine->options.forge && forge_open(engine, &forge)))
		goto out;
	end_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(engine->options.seconds * 1e9);
	do {
		send_bad_ranges(&hostile);
		send_bad_names(&hostile);
		send_bad_tables(&hostile);
		send_bad_events(&hostile);
		if (engine->options.forge)
			forged += forge_round(&forge);
		engine_load(engine, engine->arena.start, name, 1);
		round_end_ns = clock_ns(CLOCK_MONOTONIC) + ROUND_NS;
		for (; clock_ns(CLOCK_MONOTONIC) < round_end_ns; calls++)
			code_call(engine->arena.start);
	} while (clock_ns(CLOCK_MONOTONIC) < end_ns);
	printf("events %" PRIu64 " forged %" PRIu64 " calls %" PRIu64 "\n", hostile.events, forged,
	       calls);
	status = 0;
out:
	free(hostile.huge_name);
	free(hostile.huge_table);
	return status;
}
