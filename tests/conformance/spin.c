/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/conformance/spin.h"

#include <string.h>
#include <time.h>

/*
 * 40 us to 0.5 ms. Samples also hit the clock's system call between two runs: with ten times fewer
 * turns, up to half of them on a busy machine.
 */
#define TURNS 200000

/* The fourth argument is in rcx, which the loop instruction counts down. */
typedef void (*spin_fn)(void *callee, long, long, long turns);

static uint64_t cpu_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void spin(uint8_t *code, void *callee, uint64_t cpu_ns)
{
	uint64_t end_ns = cpu_now_ns() + cpu_ns;
	spin_fn run = (spin_fn)(uintptr_t)code;

	do
		run(callee, 0, 0, TURNS);
	while (cpu_now_ns() < end_ns);
}

void spin_at(uint8_t *at, uint64_t cpu_ns)
{
	static const uint8_t code[] = {
		0xe2, 0xfe, /* loop to itself */
		0xc3,	    /* ret */
	};

	memcpy(at, code, sizeof(code));
	spin(at, NULL, cpu_ns);
}

/* A function with a frame, which a compiler would omit. */
void spin_wait(void *callee, long, long, long turns);
__asm__(".pushsection .text\n"
	"	.globl spin_wait\n"
	"	.type spin_wait, @function\n"
	"spin_wait:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"1:	loop 1b\n"
	"	pop %rbp\n"
	"	ret\n"
	"	.size spin_wait, . - spin_wait\n"
	"	.popsection\n");

void spin_called_from(uint8_t *at, uint64_t cpu_ns)
{
	static const uint8_t code[] = {
		0x55,		  /* push rbp */
		0x48, 0x89, 0xe5, /* mov rbp, rsp */
		0xff, 0xd7,	  /* call rdi: its last byte is at `at` */
		0x5d,		  /* pop rbp */
		0xc3,		  /* ret */
	};
	uint8_t *begin = at - 5;

	memcpy(begin, code, sizeof(code));
	spin(begin, (void *)(uintptr_t)spin_wait, cpu_ns);
}
