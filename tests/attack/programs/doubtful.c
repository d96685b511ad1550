// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * doubtful: reports 8,192 functions through the JIT API, and runs them in stacks of 900. Before
 * each stack, their memory becomes executable anew, so that all of them are in doubt. Does so in a
 * new process every two seconds. Prints a line when it begins.
 */
#include <dlfcn.h>
#include <err.h>
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

#include "jitapi-shim/payload.h"

#define FUNCTIONS      8192
#define FUNCTION_BYTES 64
#define LEVELS	       900
#define SECONDS	       2 /* of a process */

typedef unsigned int (*notify_fn)(unsigned int event, void *data);

static notify_fn open_api(void)
{
	const char *path = getenv("INTEL_JIT_PROFILER64");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	unsigned int (*initialize)(void) = library ? dlsym(library, "Initialize") : NULL;

	if (!initialize || initialize() != 1)
		errx(1, "no collector");
	return (notify_fn)dlsym(library, "NotifyEvent");
}

/* push rbp; mov rbp, rsp; mov rax, [rdi]; add rdi, 8; call rax; pop rbp; ret; and a number */
static void write_function(uint8_t *at, uint32_t number)
{
	static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x8b, 0x07, 0x48,
				       0x83, 0xc7, 0x08, 0xff, 0xd0, 0x5d, 0xc3};

	memcpy(at, code, sizeof(code));
	memcpy(at + sizeof(code), &number, sizeof(number));
}

static void report(notify_fn notify, uint8_t *code)
{
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		struct jitapi_load load = {
			.method = {.id = i + 1,
				   .name = "attacker_code",
				   .address = (uintptr_t)(code + i * FUNCTION_BYTES),
				   .size_bytes = FUNCTION_BYTES},
		};

		notify(JIT_EVENT_LOAD, &load);
	}
}

static void burn(void)
{
	uint64_t chain = 1;

	for (int i = 0; i < 300000; i++)
		asm volatile("imul %0, %0" : "+r"(chain));
}

static void run(notify_fn notify)
{
	size_t size = FUNCTIONS * FUNCTION_BYTES;
	uint8_t *code = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *calls[LEVELS + 1];
	uint32_t next = 0;
	time_t end;

	if (code == MAP_FAILED)
		err(1, "mapping");
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		write_function(code + i * FUNCTION_BYTES, i);
	report(notify, code);
	end = time(NULL) + SECONDS;
	while (time(NULL) < end) {
		if (mprotect(code, size, PROT_READ) ||
		    mprotect(code, size, PROT_READ | PROT_WRITE | PROT_EXEC))
			err(1, "protecting");
		for (uint32_t i = 0; i < LEVELS; i++)
			calls[i] = code + (next++ % FUNCTIONS) * FUNCTION_BYTES;
		calls[LEVELS] = (void *)burn;
		((void (*)(void **))calls[0])(calls + 1);
	}
}

int main(void)
{
	notify_fn notify = open_api();
	pid_t pid;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	puts("begun");
	fflush(stdout);
	while ((pid = fork()))
		waitpid(pid, NULL, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run(notify);
	return 0;
}
