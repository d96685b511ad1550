/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks through JIT code without frame pointers, which is rewritten at the
 * same addresses with frames of other layouts and sizes. frames_call() calls
 * outer_G, which calls middle_G, the C function frames_callback() and leaf_G.
 * All keep their generation G in r15, like the functions of storm mode.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/programs/engine/engine.h"
#include "tests/programs/stacks/stacks.h"

#define NS	    1000000000ull
#define LAYERS	    3
#define LAYER_BYTES 128u

enum form { PUSHES, SUBTRACTS, FRAME_POINTER, ADDRESS, RBP_AS_ANY, FORMS };

struct frame {
	enum form form;
	uint32_t bytes; /* without the return address; a multiple of 8 */
};

static uint8_t *put(uint8_t *at, const void *bytes, size_t size)
{
	memcpy(at, bytes, size);
	return at + size;
}

#define PUT(at, ...) put((at), (const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}))

static uint8_t *put_u32(uint8_t *at, uint32_t value)
{
	return put(at, &value, sizeof(value));
}

static uint8_t *put_u64(uint8_t *at, uint64_t value)
{
	return put(at, &value, sizeof(value));
}

static uint8_t *put_sub_rsp(uint8_t *at, uint32_t bytes)
{
	return put_u32(PUT(at, 0x48, 0x81, 0xec), bytes);
}

static uint8_t *put_add_rsp(uint8_t *at, uint32_t bytes)
{
	return put_u32(PUT(at, 0x48, 0x81, 0xc4), bytes);
}

static uint8_t *put_enter(uint8_t *at, struct frame frame)
{
	if (!frame.bytes)
		return at;
	switch (frame.form) {
	case PUSHES:
		for (uint32_t i = 0; i < frame.bytes; i += 8)
			at = PUT(at, 0x53); /* push rbx */
		return at;
	case SUBTRACTS:
		return put_sub_rsp(at, frame.bytes);
	case FRAME_POINTER:
		at = PUT(at, 0x55, 0x48, 0x89, 0xe5); /* push rbp; mov rbp, rsp */
		return put_sub_rsp(at, frame.bytes - 8);
	case ADDRESS: /* lea rsp, [rsp - bytes] */
		return put_u32(PUT(at, 0x48, 0x8d, 0xa4, 0x24), -frame.bytes);
	default:
		at = put_sub_rsp(PUT(at, 0x55), frame.bytes - 8);
		return put_u32(PUT(at, 0xbd), 0x12345678); /* mov ebp, imm32 */
	}
}

static uint8_t *put_leave(uint8_t *at, struct frame frame)
{
	if (!frame.bytes)
		return at;
	switch (frame.form) {
	case PUSHES:
		for (uint32_t i = 0; i < frame.bytes; i += 8)
			at = PUT(at, 0x5b); /* pop rbx */
		return at;
	case SUBTRACTS:
		return put_add_rsp(at, frame.bytes);
	case FRAME_POINTER:
		return PUT(at, 0xc9); /* leave */
	case ADDRESS:
		return put_u32(PUT(at, 0x48, 0x8d, 0xa4, 0x24), frame.bytes);
	default:
		return PUT(put_add_rsp(at, frame.bytes - 8), 0x5d); /* pop rbp */
	}
}

static uint8_t *put_turns(uint8_t *at, uint32_t turns)
{
	at = put_u32(PUT(at, 0xb9), turns);	/* mov ecx, imm32 */
	return PUT(at, 0xff, 0xc9, 0x75, 0xfc); /* dec ecx; jnz to it */
}

/* Write a call of callee(argument). */
static uint8_t *put_call(uint8_t *at, const void *callee, const void *argument)
{
	at = put_u64(PUT(at, 0x48, 0xbf), (uintptr_t)argument);
	at = put_u64(PUT(at, 0x48, 0xb8), (uintptr_t)callee);
	return PUT(at, 0xff, 0xd0);
}

FUNCTION static void frames_callback(const uint8_t *leaf)
{
	code_call(leaf);
	__asm__ volatile("");
}

FUNCTION static void frames_call(const uint8_t *outer)
{
	code_call(outer);
	__asm__ volatile("");
}

static uint8_t *put_outer(uint8_t *at, uint8_t *code, uint32_t generation, uint32_t turns)
{
	struct frame frame = {generation % FORMS, 16 * (1 + generation % 7)};

	at = put_u64(PUT(at, 0x41, 0x57, 0x49, 0xbf), CODE_TAG(generation)); /* push r15; mov r15 */
	at = put_turns(put_enter(at, frame), turns / 8 + 1);
	at = put_call(at, code + LAYER_BYTES, NULL);
	at = put_leave(put_turns(at, turns / 8 + 1), frame);
	return PUT(at, 0x41, 0x5f, 0xc3); /* pop r15; ret */
}

static uint8_t *put_middle(uint8_t *at, uint8_t *code, uint32_t generation, uint32_t turns)
{
	struct frame frame = {generation / 2 % FORMS, 8 + 16 * (generation % 5)};

	at = put_turns(put_enter(at, frame), turns / 8 + 1);
	at = put_call(at, (const void *)(uintptr_t)frames_callback, code + 2 * LAYER_BYTES);
	return PUT(put_leave(at, frame), 0xc3);
}

static uint8_t *put_leaf(uint8_t *at, uint8_t *code, uint32_t generation, uint32_t turns)
{
	struct frame frame = {generation / 3 % FORMS, 8 * (generation % 4)};

	return PUT(put_leave(put_turns(put_enter(at, frame), turns), frame), 0xc3);
}

static void frames_load(struct worker *worker, uint8_t *code)
{
	static const struct layer {
		const char *name;
		uint8_t *(*put)(uint8_t *at, uint8_t *code, uint32_t generation, uint32_t turns);
	} layers[LAYERS] = {{"outer", put_outer}, {"middle", put_middle}, {"leaf", put_leaf}};
	struct engine *engine = worker->engine;
	uint32_t generation = atomic_fetch_add(&engine->next_generation, 1);
	char name[32];

	for (uint32_t i = 0; i < LAYERS; i++) {
		uint8_t *at = code + i * LAYER_BYTES;
		uint8_t *end =
			layers[i].put(at, code, generation, (uint32_t)engine->options.iterations);
		struct jitapi_load load = {
			.method.id = atomic_fetch_add(&engine->next_id, 1),
			.method.name = name,
			.method.address = (uintptr_t)at,
			.method.size_bytes = (uint32_t)(end - at),
		};

		snprintf(name, sizeof(name), "%s_%" PRIu32, layers[i].name, generation);
		jit_client_notify(&engine->client, JIT_EVENT_LOAD, &load);
		dump_load(&engine->dump, at, load.method.size_bytes, name);
	}
	worker->loads++;
}

static void frames_work(struct worker *worker)
{
	struct engine *engine = worker->engine;
	uint64_t slots = engine->options.slots, due, written;
	uint64_t start_ns = clock_ns(CLOCK_MONOTONIC), now_ns = start_ns;

	for (; !worker_is_done(worker); now_ns = clock_ns(CLOCK_MONOTONIC)) {
		due = 1 + (uint64_t)((__uint128_t)(now_ns - start_ns) * worker->rate / NS);
		if (worker->loads < due)
			frames_load(worker, arena_slot(&engine->arena,
						       worker->first_slot + worker->loads % slots));
		written = worker->loads < slots ? worker->loads : slots;
		frames_call(
			arena_slot(&engine->arena, worker->first_slot + worker->calls++ % written));
	}
}

int frames_mode(struct engine *engine)
{
	struct worker sum;

	if (engine->arena.slot_bytes < LAYERS * LAYER_BYTES) {
		fprintf(stderr, "jit-engine: frames needs --code-bytes %u\n", LAYERS * LAYER_BYTES);
		return 2;
	}
	if (workers_run(engine, frames_work, &sum))
		return 1;
	printf("generations %" PRIu64 " calls %" PRIu64 "\n", sum.loads, sum.calls);
	return 0;
}
