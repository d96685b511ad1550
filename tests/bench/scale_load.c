/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * scale_load KIND COUNT [LIBRARY]: a program that has COUNT of something, and runs code in all of
 * it until it is killed. Writes a line when it has them.
 *
 *   processes  processes that sleep
 *   threads    threads, each of which computes for a short time in its turn
 *   mappings   executable mappings of a page of LIBRARY, which has the function spin()
 *   modules    libraries: copies of LIBRARY, whose names are LIBRARY, a dot and a number from 0 on
 *   methods    methods, published to the collector in $INTEL_JIT_PROFILER64
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "jitapi-shim/payload.h"
#include "tests/programs/engine/jit_client.h"

#define PAGE_BYTES  4096ul
#define CODE_BYTES  64u
#define TURN_NS	    50000 /* time of a thread, in each of its turns */
#define STACK_BYTES 65536

typedef void (*code_fn)(void);

struct load {
	const char *library;
	size_t count;
	code_fn *codes; /* count of them; of some kinds */
};

static void require(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "scale_load: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* Write a function that counts down. */
static void write_code(uint8_t *to)
{
	static const uint8_t code[] = {
		0xb9, 0x20, 0x4e, 0, 0, /* mov $20000,%ecx */
		0xff, 0xc9,		/* dec %ecx */
		0x75, 0xfc,		/* jne to dec */
		0xc3,			/* ret */
	};

	memcpy(to, code, sizeof(code));
}

static void have_processes(struct load *load)
{
	for (size_t i = 0; i < load->count; i++) {
		pid_t pid = fork();

		require(pid >= 0, "fork");
		if (pid)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
}

static void *take_turns(void *load_)
{
	const struct load *load = load_;
	uint64_t rest_ns = load->count * TURN_NS;
	const struct timespec rest = {(time_t)(rest_ns / 1000000000), (long)(rest_ns % 1000000000)};

	for (;;) {
		uint64_t end_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) + TURN_NS;

		while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
			;
		nanosleep(&rest, NULL);
	}
	return NULL;
}

static void have_threads(struct load *load)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	for (size_t i = 0; i < load->count; i++) {
		errno = pthread_create(&thread, &attributes, take_turns, load);
		require(!errno, "pthread_create");
	}
}

static void have_mappings(struct load *load)
{
	void *library = dlopen(load->library, RTLD_NOW), *spin;
	int fd = open(load->library, O_RDONLY | O_CLOEXEC);
	uintptr_t offset;
	uint8_t *at;
	Dl_info file;

	require(library && fd >= 0, load->library);
	spin = dlsym(library, "spin");
	require(spin && dladdr(spin, &file), "dlsym");
	/* Compilers put code at the same offset in the file as from its first address. */
	offset = (uintptr_t)spin - (uintptr_t)file.dli_fbase;
	at = mmap(NULL, load->count * PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	require(at != MAP_FAILED, "mmap");
	for (size_t i = 0; i < load->count; i++, at += PAGE_BYTES) {
		require(mmap(at, PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
			     (off_t)(offset & -PAGE_BYTES)) == at,
			"mmap");
		load->codes[i] = (code_fn)(uintptr_t)(at + offset % PAGE_BYTES);
	}
}

static void have_modules(struct load *load)
{
	char path[4096];

	for (size_t i = 0; i < load->count; i++) {
		void *library;

		snprintf(path, sizeof(path), "%s.%zu", load->library, i);
		library = dlopen(path, RTLD_NOW);
		require(library, path);
		load->codes[i] = (code_fn)(uintptr_t)dlsym(library, "spin");
		require(load->codes[i], "dlsym");
	}
}

static void have_methods(struct load *load)
{
	size_t bytes = load->count * CODE_BYTES;
	uint8_t *arena = mmap(NULL, bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct jit_client client;
	char name[96], source[48];

	require(arena != MAP_FAILED, "mmap");
	jit_client_open(&client);
	for (size_t i = 0; i < load->count; i++) {
		struct jitapi_load method = {
			.method = {.id = (uint32_t)(1000 + i),
				   .name = name,
				   .address = (uintptr_t)arena + i * CODE_BYTES,
				   .size_bytes = CODE_BYTES},
			.source = source,
		};

		write_code(arena + i * CODE_BYTES);
		snprintf(name, sizeof(name), "app::part_%05zu::Class%04zu::method_%07zu(int)",
			 i / 1000, i / 50 % 10000, i);
		snprintf(source, sizeof(source), "source/part_%05zu.cc", i / 1000);
		jit_client_notify(&client, JIT_EVENT_LOAD, &method);
		load->codes[i] = (code_fn)(uintptr_t)(arena + i * CODE_BYTES);
	}
}

static void run_codes(const struct load *load)
{
	uint64_t random = 88172645463325252ull;

	for (;;) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		load->codes[random % load->count]();
	}
}

/* The other threads or processes are the load. */
static void wait_for_end(const struct load *load)
{
	(void)load;
	for (;;)
		pause();
}

/* One process runs, and the others are there. */
static void spin(const struct load *load)
{
	(void)load;
	for (;;)
		now_ns(CLOCK_MONOTONIC);
}

static const struct {
	const char *name;
	void (*have)(struct load *load);
	void (*run)(const struct load *load);
} kinds[] = {
	{"processes", have_processes, spin},	{"threads", have_threads, wait_for_end},
	{"mappings", have_mappings, run_codes}, {"modules", have_modules, run_codes},
	{"methods", have_methods, run_codes},
};

int main(int argc, char **argv)
{
	const size_t count = sizeof(kinds) / sizeof(*kinds);
	struct load load = {.library = argc > 3 ? argv[3] : ""};
	size_t kind = 0;

	while (argc > 2 && kind < count && strcmp(argv[1], kinds[kind].name))
		kind++;
	load.count = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	if (!load.count || kind == count) {
		fprintf(stderr, "usage: scale_load KIND COUNT [LIBRARY]\n");
		return 2;
	}
	load.codes = calloc(load.count, sizeof(*load.codes));
	require(load.codes, "memory");
	kinds[kind].have(&load);
	puts("ready");
	fflush(stdout);
	kinds[kind].run(&load);
	return 0;
}
