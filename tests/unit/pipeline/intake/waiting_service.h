/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A service for the unwinder, and the memory of the processes that it reads. It answers each
 * request some rounds later, or with an error. The answer, and when it comes, depends on the
 * request and not on the order of requests. Tables of the kernel, which no program reads.
 */
#ifndef JITBPF_TESTS_UNIT_PIPELINE_INTAKE_WAITING_SERVICE_H
#define JITBPF_TESTS_UNIT_PIPELINE_INTAKE_WAITING_SERVICE_H

#include "base/hash.h"
#include "tests/unit/pipeline/made_run.h"
#include "unwind/unwind_service.h"

#define WORLD_PROCESSES	 4  /* the last two are virtual machines */
#define WORLD_SLOTS	 48 /* of code, in each process */
#define WORLD_SLOT_BYTES 0x100u

struct waiting_request {
	struct unwind_request request;
	uint64_t turn; /* in which it is answered; UINT64_MAX: never */
};

struct waiting_service {
	uint64_t seed, time_ns, turn;
	bool busy; /* answers come late, so that some waits end before */
	uint64_t content[WORLD_PROCESSES][WORLD_SLOTS]; /* of the memory of a slot; 0: no code */
	VEC(struct waiting_request) requests;
};

static struct waiting_service waiting_service;

/* A number that depends on the seed and on two others. */
static inline uint64_t world_of(uint64_t a, uint64_t b)
{
	return hash_mix(hash_mix(waiting_service.seed * 0x9e3779b97f4a7c15ull + 1, a), b);
}

/* --- memory of the processes ------------------------------------------------------- */

static inline uint64_t world_slot_address(uint32_t slot)
{
	return MADE_CODE + slot * (uint64_t)WORLD_SLOT_BYTES;
}

static inline uint8_t world_byte(uint64_t content, uint32_t offset)
{
	return (uint8_t)(content ? hash_mix(content, offset / 4) >> offset % 4 * 8 : 0);
}

/* Copy memory of a process that has code; what it has not is 0. */
static inline void world_memory(uint32_t pid, uint64_t address, uint8_t *to, size_t size_bytes)
{
	const uint64_t *content =
		pid - MADE_PID < WORLD_PROCESSES ? waiting_service.content[pid - MADE_PID] : NULL;

	for (size_t i = 0; i < size_bytes; i++) {
		uint64_t offset = address + i - MADE_CODE, slot = offset / WORLD_SLOT_BYTES;

		to[i] = content && slot < WORLD_SLOTS
				? world_byte(content[slot], offset % WORLD_SLOT_BYTES)
				: 0;
	}
}

/* --- the service --------------------------------------------------------------------- */

static inline uint64_t world_key(const struct unwind_request *request)
{
	const struct unwind_code_request *code = &request->code;
	uint64_t key = request->kind;

	switch (request->kind) {
	case UNWIND_PAGE_ROWS:
		key = hash_mix(key, request->page.module->number);
		return hash_mix(key, request->page.page * 2ull + request->page.slow);
	case UNWIND_RETURN_SITE:
		key = hash_mix(key, request->return_site.owner);
		return hash_mix(key, request->return_site.to);
	case UNWIND_CODE_CHECK:
		key = hash_mix(key, request->pid * 2ull + !!code->check.is);
		return hash_mix(key, code->region);
	default:
		return hash_mix(key, code->region);
	}
}

static inline int world_request(void *context, const struct unwind_request *request)
{
	uint64_t chosen = world_of(world_key(request), 1) % 32, turns;

	(void)context;
	if (chosen < 12)
		turns = 0;
	else if (chosen < 30)
		turns = chosen % 3 + (waiting_service.busy ? chosen : 0);
	else
		turns = chosen == 30 ? 60 : UINT64_MAX - waiting_service.turn;
	return vec_push(&waiting_service.requests,
			((struct waiting_request){*request, waiting_service.turn + turns}));
}

static inline void world_make_rows(uint64_t key, struct unwind_rows *ret)
{
	uint32_t offset = 0;

	for (uint64_t i = 0; i < 1 + world_of(key, 2) % 6; i++) {
		uint64_t row = world_of(key, 3 + i);
		int32_t cfa = UNWIND_CFA(UNWIND_CFA_RSP, (int32_t)(row % 3 + 1) * 8);

		if (row / 4 % 8 == 0)
			cfa = UNWIND_CFA_COMMAND(UNWIND_FRAME_POINTER);
		else if (row / 4 % 8 == 1)
			cfa = UNWIND_CFA_COMMAND(UNWIND_NOT_MADE);
		made_require(!unwind_rows_add(ret, offset, cfa, UNWIND_RBP_KEPT));
		offset += 1 + (uint32_t)(row / 32 % (WORLD_SLOT_BYTES / 4));
	}
}

/*
 * Rows that time out are requested again by the next sample, or by none for a while: then the order
 * of requests matters. So only checks and return sites time out.
 */
static inline int world_error(const struct unwind_request *request)
{
	uint64_t chosen = world_of(world_key(request), 20) % 24;

	if (!chosen && (request->kind == UNWIND_CODE_CHECK || request->kind == UNWIND_RETURN_SITE))
		return -ETIMEDOUT;
	return chosen == 1 ? -EIO : 0;
}

/* Compare the copy of a request with memory, or with the bytes that a sample saw. */
static inline void world_check(struct unwind_answer *answer)
{
	const struct unwind_code_request *code = &answer->request.code;
	size_t size_bytes = code->copy ? code->copy_bytes : code->size_bytes;
	const uint8_t *is = code->check.is;

	answer->bytes = malloc(size_bytes);
	answer->bytes_read = size_bytes;
	made_require(answer->bytes);
	world_memory(answer->request.pid, code->address, answer->bytes, size_bytes);
	answer->read_ns = is ? 0 : waiting_service.time_ns - 1;
	if (is)
		answer->differs = world_of(hash_bytes(is, size_bytes, 1), code->region) % 2;
	else if (code->copy)
		answer->differs = memcmp(answer->bytes, code->copy, size_bytes);
}

static inline int world_answer(const struct unwind_request *request, unwind_taker_fn take,
			       void *context)
{
	struct unwind_answer answer = {.request = *request, .error = world_error(request)};
	uint64_t key = world_key(request);
	int err;

	if (request->kind == UNWIND_RETURN_SITE) {
		answer.can_return = world_of(key, 21) % 4;
	} else if (!answer.error && request->kind == UNWIND_CODE_CHECK) {
		world_check(&answer);
	} else if (!answer.error) {
		world_make_rows(key, &answer.rows);
		if (request->kind == UNWIND_CODE_ROWS && !request->code.copy)
			answer.read_ns = waiting_service.time_ns;
	}
	err = take(context, &answer);
	unwind_rows_deinit(&answer.rows);
	free(answer.bytes);
	return err;
}

static inline int world_collect(void *context, uint64_t wait_ns, unwind_taker_fn take,
				void *take_context)
{
	size_t count = waiting_service.requests.size, kept = 0;
	int err = 0;

	(void)context;
	(void)wait_ns;
	/* Answers may make further requests, behind `count`. */
	for (size_t i = 0; i < count && !err; i++) {
		struct waiting_request one = waiting_service.requests.data[i];

		if (one.turn <= waiting_service.turn)
			err = world_answer(&one.request, take, take_context);
		else
			waiting_service.requests.data[kept++] = one;
	}
	if (!count)
		return 0;
	memmove(waiting_service.requests.data + kept, waiting_service.requests.data + count,
		(waiting_service.requests.size - count) * sizeof(*waiting_service.requests.data));
	waiting_service.requests.size -= count - kept;
	return err;
}

#endif
