// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * sprawl KIND: does what a profiler must remember, and each time something else, until it is ended.
 *
 *   paths      calls 64 functions in random order, 900 levels deep: each sample has a call path of
 *              its own
 *   places     the same in generated code, 110 levels deep, from random places of 64 MB
 *   threads    short threads, each with a name of its own
 *   processes  short processes, each with a name of its own
 *   crowd      10,000 processes that live on, each with a name of its own, and with mappings
 *
 * Each takes the CPU time of two threads at most.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LEVELS	     900
#define PLACE_LEVELS 110
#define PLACES	     (4u << 20)
#define PLACE_BYTES  16
#define CROWD	     10000

static __thread uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static void work(uint64_t turns)
{
	uint64_t chain = turns;

	for (uint64_t i = 0; i < turns; i++)
		asm volatile("imul %0, %0" : "+r"(chain));
}

static void burn_ms(uint64_t ms)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		work(10000);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((uint64_t)((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec -
			    begin.tv_nsec) < ms * 1000000);
}

static void descend(int levels);

/* 64 functions that differ, so that the compiler keeps them. */
#define LEVEL(n)                                                                                   \
	static void __attribute__((noinline)) attacker_level_##n(int levels)                       \
	{                                                                                          \
		descend(levels);                                                                   \
		asm volatile("" ::"i"(n));                                                         \
	}
#define LEVELS_8(n)                                                                                \
	LEVEL(n##0)                                                                                \
	LEVEL(n##1) LEVEL(n##2) LEVEL(n##3) LEVEL(n##4) LEVEL(n##5) LEVEL(n##6) LEVEL(n##7)
#define NAMES_8(n)                                                                                 \
	attacker_level_##n##0, attacker_level_##n##1, attacker_level_##n##2,                       \
		attacker_level_##n##3, attacker_level_##n##4, attacker_level_##n##5,               \
		attacker_level_##n##6, attacker_level_##n##7

LEVELS_8(1)
LEVELS_8(2)
LEVELS_8(3)
LEVELS_8(4)
LEVELS_8(5)
LEVELS_8(6)
LEVELS_8(7)
LEVELS_8(8)

static void (*const level_functions[64])(int) = {
	NAMES_8(1), NAMES_8(2), NAMES_8(3), NAMES_8(4),
	NAMES_8(5), NAMES_8(6), NAMES_8(7), NAMES_8(8),
};

static void __attribute__((noinline)) descend(int levels)
{
	if (levels)
		level_functions[next_random() % 64](levels - 1);
	else
		work(20000);
	asm volatile("");
}

static void *paths(void *arg)
{
	state += (uintptr_t)arg;
	for (;;)
		descend(LEVELS / 2);
	return NULL;
}

/* push rbp; mov rbp, rsp; mov rdi, rsi; call rsi; pop rbp; ret */
static const uint8_t place_code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d, 0xc3};
static uint8_t *place;

static void next_place(int *levels)
{
	void (*at)(int *, void (*)(int *)) =
		(void (*)(int *, void (*)(int *)))(place + next_random() % PLACES * PLACE_BYTES);

	if (--*levels < 0) {
		work(20000);
		return;
	}
	at(levels, next_place);
	asm volatile("");
}

static void *places(void *arg)
{
	state += (uintptr_t)arg;
	for (;;) {
		int levels = PLACE_LEVELS / 2;

		next_place(&levels);
	}
	return NULL;
}

static void make_places(void)
{
	place = mmap(NULL, (size_t)PLACES * PLACE_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (place == MAP_FAILED)
		exit(1);
	for (size_t i = 0; i < PLACES; i++)
		memcpy(place + i * PLACE_BYTES, place_code, sizeof(place_code));
	mprotect(place, (size_t)PLACES * PLACE_BYTES, PROT_READ | PROT_EXEC);
}

static void take_name(void)
{
	char name[16];

	snprintf(name, sizeof(name), "attacker%07x", (unsigned int)next_random() & 0xfffffff);
	prctl(PR_SET_NAME, name);
}

static void *thread_main(void *arg)
{
	state += (uintptr_t)arg;
	take_name();
	burn_ms(1);
	return NULL;
}

static void threads(void)
{
	for (uint64_t i = 1;; i++) {
		pthread_t one, two;

		if (pthread_create(&one, NULL, thread_main, (void *)(2 * i)))
			exit(1);
		if (pthread_create(&two, NULL, thread_main, (void *)(2 * i + 1)))
			exit(1);
		pthread_join(one, NULL);
		pthread_join(two, NULL);
	}
}

static void short_process(uint64_t seed)
{
	state += seed;
	take_name();
	burn_ms(1);
	_exit(0);
}

static void processes(void)
{
	for (uint64_t i = 1;; i++) {
		if (!fork())
			short_process(i);
		if (i > 2)
			wait(NULL);
	}
}

static void crowd(void)
{
	for (uint64_t i = 1; i <= CROWD; i++) {
		pid_t pid = fork();

		if (pid < 0)
			break;
		if (pid)
			continue;
		state += i;
		take_name();
		for (int n = 0; n < 16; n++)
			mmap(NULL, 4096, PROT_READ | PROT_EXEC,
			     (n & 1 ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);
		burn_ms(1);
		for (;;)
			pause();
	}
}

static void start_two(void *(*main)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, main, (void *)12345))
		exit(1);
	puts("ready");
	fflush(stdout);
	main(NULL);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";

	signal(SIGCHLD, SIG_DFL);
	if (!strcmp(kind, "paths"))
		start_two(paths);
	if (!strcmp(kind, "places")) {
		make_places();
		start_two(places);
	}
	puts("ready");
	fflush(stdout);
	if (!strcmp(kind, "threads"))
		threads();
	if (!strcmp(kind, "processes"))
		processes();
	if (!strcmp(kind, "crowd"))
		crowd();
	for (;;)
		pause();
}
