/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A generated function without a frame pointer, which calls itself. */
#include <stdio.h>
#include <string.h>

#include "tests/programs/engine/engine.h"

#define TURNS_AT 16

/* void deep(int levels): a frame of 48 bytes with its return address. */
static const uint8_t deep_code[] = {
	0x48, 0x83, 0xec, 0x28,	      /*  0: sub rsp, 40 */
	0xff, 0xcf,		      /*  4: dec edi */
	0x74, 0x07,		      /*  6: jz 15 */
	0xe8, 0xf3, 0xff, 0xff, 0xff, /*  8: call 0 */
	0xeb, 0x09,		      /* 13: jmp 24 */
	0xb9, 0x00, 0x00, 0x00, 0x00, /* 15: mov ecx, turns */
	0xff, 0xc9,		      /* 20: dec ecx */
	0x75, 0xfc,		      /* 22: jnz 20 */
	0x48, 0x83, 0xc4, 0x28,	      /* 24: add rsp, 40 */
	0xc3,			      /* 28: ret */
};

static void deep_work(struct worker *worker)
{
	struct engine *engine = worker->engine;
	uint8_t *code = arena_slot(&engine->arena, worker->first_slot);
	uint32_t turns = (uint32_t)engine->options.iterations;
	struct jitapi_load load = {
		.method.id = 1,
		.method.name = "deep",
		.method.address = (uintptr_t)code,
		.method.size_bytes = sizeof(deep_code),
	};

	memcpy(code, deep_code, sizeof(deep_code));
	memcpy(code + TURNS_AT, &turns, sizeof(turns));
	jit_client_notify(&engine->client, JIT_EVENT_LOAD, &load);
	worker->loads++;
	while (!worker_is_done(worker)) {
		((void (*)(int))(uintptr_t)code)((int)engine->options.depth);
		worker->calls++;
	}
}

int deep_mode(struct engine *engine)
{
	struct worker sum;

	if (workers_run(engine, deep_work, &sum))
		return 1;
	printf("calls %llu\n", (unsigned long long)sum.calls);
	return 0;
}
