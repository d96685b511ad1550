/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory of published code that other code replaces without a report, as if by a second engine that
 * publishes nothing. In turn, functions of a generation are published and run, and unpublished
 * functions replace them and run. All keep their number in r15; that of unpublished ones has
 * STALE_UNPUBLISHED set.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/scope.h"
#include "tests/programs/engine/engine.h"
#include "tests/programs/stacks/stacks.h"

#define STALE_UNPUBLISHED 0x80000000u
#define STALE_FUNCTIONS	  8
#define STALE_SLOT_BYTES  128u
#define STALE_BYTES	  4096u
#define STALE_ELSEWHERE	  0x200000000000
#define STALE_STEP_NS	  1000000u /* of CPU time */

struct stale {
	struct engine *engine;
	uint8_t *code;
	uint64_t turn;
	bool same_shape; /* unpublished functions differ from published ones in constants only */
	bool calls;	 /* functions spend their time in stale_callee() */
};

struct replacement {
	const char *name;
	int (*replace)(struct stale *stale);
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

FUNCTION static void stale_callee(void)
{
	turn(30000);
	__asm__ volatile("");
}

/* Published and unpublished functions share their prologue; others differ in their loops. */
static void write_function(const struct stale *stale, uint8_t *code, uint32_t number)
{
	bool unpublished = number & STALE_UNPUBLISHED;
	uint32_t turns = stale->calls ? 8 : (uint32_t)stale->engine->options.iterations;
	uint8_t *at;

	/* push rbp; mov rbp, rsp; push r15; sub rsp, 8; mov r15, imm64 */
	at = PUT(code, 0x55, 0x48, 0x89, 0xe5, 0x41, 0x57, 0x48, 0x83, 0xec, 0x08, 0x49, 0xbf);
	at = put_u64(at, CODE_TAG(number));
	if (stale->calls) {
		/* mov rax, imm64; call rax */
		at = put_u64(PUT(at, 0x48, 0xb8), (uintptr_t)(void *)stale_callee);
		at = PUT(at, 0xff, 0xd0);
	}
	at = put_u32(PUT(at, 0xb9), turns); /* mov ecx, imm32 */
	/* jmp to the next instruction; linking makes it skip the nops */
	at = PUT(at, 0xe9, 0, 0, 0, 0, 0x90, 0x90, 0x90, 0x90);
	if (!unpublished || stale->same_shape) {
		at = PUT(at, 0x69, 0xc0); /* imul eax, eax, imm32 */
		at = put_u32(at, unpublished ? 22695477 : 1664525);
		at = PUT(at, 0xff, 0xc9, 0x75, 0xf6); /* dec ecx; jnz to the imul */
	} else {
		/* lea eax, [rax+rcx*2]; rol eax, 7; dec ecx; jnz to the lea */
		at = PUT(at, 0x8d, 0x04, 0x48, 0xc1, 0xc0, 0x07, 0xff, 0xc9, 0x75, 0xf6);
	}
	/* add rsp, 8; pop r15; pop rbp; ret */
	at = PUT(at, 0x48, 0x83, 0xc4, 0x08, 0x41, 0x5f, 0x5d, 0xc3);
	memset(at, 0xcc, (size_t)(code + STALE_SLOT_BYTES - at));
}

static uint8_t *function_at(uint8_t *code, uint32_t i)
{
	return code + i * STALE_SLOT_BYTES;
}

/* Returns 0 or a negative errno. */
static int check(int result)
{
	return result ? -errno : 0;
}

static int map(void *address, int flags, int protection, uint8_t **ret)
{
	void *start =
		mmap(address, STALE_BYTES, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (start == MAP_FAILED)
		return -errno;
	*ret = start;
	return 0;
}

static uint32_t number_of(const struct stale *stale, uint32_t i, bool unpublished)
{
	uint32_t number = (uint32_t)stale->turn * STALE_FUNCTIONS + i;

	return unpublished ? number | STALE_UNPUBLISHED : number;
}

static void write_functions(const struct stale *stale, uint8_t *code, bool unpublished)
{
	for (uint32_t i = 0; i < STALE_FUNCTIONS; i++)
		write_function(stale, function_at(code, i), number_of(stale, i, unpublished));
}

static int seal(uint8_t *code)
{
	return check(mprotect(code, STALE_BYTES, PROT_READ | PROT_EXEC));
}

static int replace_unmapped(struct stale *stale)
{
	int err = check(munmap(stale->code, STALE_BYTES));

	err = err ?: map(stale->code, MAP_FIXED_NOREPLACE, PROT_READ | PROT_WRITE, &stale->code);
	if (err)
		return err;
	write_functions(stale, stale->code, true);
	return seal(stale->code);
}

static int replace_fixed(struct stale *stale)
{
	int err = map(stale->code, MAP_FIXED, PROT_READ | PROT_WRITE | PROT_EXEC, &stale->code);

	if (!err)
		write_functions(stale, stale->code, true);
	return err;
}

static int replace_protected(struct stale *stale)
{
	int err = check(mprotect(stale->code, STALE_BYTES, PROT_READ | PROT_WRITE));

	if (err)
		return err;
	write_functions(stale, stale->code, true);
	return seal(stale->code);
}

/* The kernel reports no new mapping at the place, nor near it. */
static int replace_moved(struct stale *stale)
{
	uint8_t *other = NULL;
	int err = map((void *)STALE_ELSEWHERE, MAP_FIXED_NOREPLACE,
		      PROT_READ | PROT_WRITE | PROT_EXEC, &other);

	if (err)
		return err;
	write_functions(stale, other, true);
	return mremap(other, STALE_BYTES, STALE_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED,
		      stale->code) == MAP_FAILED
		       ? -errno
		       : 0;
}

/* Nor anything at all. */
static int replace_written(struct stale *stale)
{
	write_functions(stale, stale->code, true);
	return 0;
}

static const struct replacement replacements[] = {
	{"unmap", replace_unmapped}, {"fixed", replace_fixed},	 {"protect", replace_protected},
	{"move", replace_moved},     {"write", replace_written}, {"link", NULL},
};

static void run(struct stale *stale, uint64_t cpu_ns)
{
	uint64_t end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ns;

	do {
		for (uint32_t i = 0; i < STALE_FUNCTIONS; i++)
			code_call(function_at(stale->code, i));
	} while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns);
}

/* Map the place anew, publish functions there, and run them. */
static int publish(struct stale *stale)
{
	struct engine *engine = stale->engine;
	int err =
		map(stale->code, stale->code ? MAP_FIXED : 0, PROT_READ | PROT_WRITE, &stale->code);
	char name[32];

	if (err)
		return err;
	write_functions(stale, stale->code, false);
	err = check(mprotect(stale->code, STALE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC));
	for (uint32_t i = 0; i < STALE_FUNCTIONS && !err; i++) {
		struct jitapi_load load = {
			.method.id = atomic_fetch_add(&engine->next_id, 1),
			.method.name = name,
			.method.address = (uintptr_t)function_at(stale->code, i),
			.method.size_bytes = STALE_SLOT_BYTES,
		};

		snprintf(name, sizeof(name), "gen_%" PRIu32, number_of(stale, i, false));
		jit_client_notify(&engine->client, JIT_EVENT_LOAD, &load);
	}
	return err;
}

/* As engines link code: the jump of a function gets another target. */
static int link_functions(struct stale *stale, uint64_t step)
{
	const uint32_t target = step / STALE_FUNCTIONS % 2 ? 4 : 0;
	uint8_t *code = function_at(stale->code, step % STALE_FUNCTIONS);
	uint8_t *jump = memchr(code + 20, 0xe9, STALE_SLOT_BYTES - 20);
	int err = check(mprotect(stale->code, STALE_BYTES, PROT_READ | PROT_WRITE));

	if (err)
		return err;
	put_u32(jump + 1, target);
	return seal(stale->code);
}

static int run_linked(struct stale *stale, uint64_t cpu_ns)
{
	int err = 0;

	for (uint64_t i = 0; i < cpu_ns / STALE_STEP_NS && !err; i++) {
		run(stale, STALE_STEP_NS);
		err = link_functions(stale, i);
	}
	return err;
}

static int take_turn(struct stale *stale, const struct replacement *replacement)
{
	/* Between 10 and 60 ms, so that turns begin and end at any time of a round. */
	uint64_t cpu_ns = (10 + stale->turn * 17 % 51) * STALE_STEP_NS;
	int err = replacement->replace || !stale->turn ? publish(stale) : 0;

	if (err)
		return err;
	if (!replacement->replace)
		return run_linked(stale, cpu_ns);
	run(stale, cpu_ns);
	err = replacement->replace(stale);
	if (!err)
		run(stale, cpu_ns / 2);
	return err;
}

static const struct replacement *replacement_find(const char *name, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(replacements); i++) {
		if (strlen(replacements[i].name) == size &&
		    !strncmp(replacements[i].name, name, size))
			return &replacements[i];
	}
	return NULL;
}

int stale_mode(struct engine *engine)
{
	const char *how = engine->options.how ? engine->options.how : "unmap";
	const struct replacement *replacement = replacement_find(how, strcspn(how, "-"));
	struct stale stale = {
		.engine = engine,
		.same_shape = strstr(how, "-constants"),
		.calls = strstr(how, "-calls"),
	};
	uint64_t end_ns = (uint64_t)(engine->options.seconds * 1e9);
	int err = 0;

	if (!replacement) {
		fprintf(stderr, "jit-engine: no replacement %s\n", how);
		return 2;
	}
	for (; clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns && !err; stale.turn++)
		err = take_turn(&stale, replacement);
	if (err) {
		fprintf(stderr, "jit-engine: %s: %s\n", how, strerror(-err));
		return 1;
	}
	printf("turns %" PRIu64 "\n", stale.turn);
	return 0;
}
