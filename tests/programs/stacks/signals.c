/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Signal handlers, on the interrupted stack and on an alternate one, at any instruction, at the
 * first instruction of a function, and nested.
 *
 * stack: _start system main outer inner
 * stack: _start system main system on_tick handle
 * stack: _start system main outer system on_tick handle
 * stack: _start system main outer inner system on_tick handle
 * stack: _start system main outer traps_at_once system on_trap handle
 * stack: _start system main outer traps_at_once system on_trap system on_tick handle
 * stack: _start system main outer traps_at_once system on_trap handle system on_tick handle
 * stack: _start system main outer traps_at_once system on_tick handle
 * stack: _start system main system
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <ucontext.h>

#include "tests/programs/stacks/stacks.h"

#define ALTERNATE_BYTES (64u << 10)
#define UD2_BYTES	2

void traps_at_once(void);
__asm__(".text\n"
	".type traps_at_once, @function\n"
	"traps_at_once:\n"
	".cfi_startproc\n"
	"	ud2\n"
	"	ret\n"
	".cfi_endproc\n"
	".size traps_at_once, . - traps_at_once\n");

FUNCTION int handle(int x)
{
	turn(100000);
	return x;
}

FUNCTION void on_tick(int number)
{
	handle(number);
	__asm__ volatile("");
}

FUNCTION void on_trap(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	handle(number);
	interrupted->uc_mcontext.gregs[REG_RIP] += UD2_BYTES;
}

FUNCTION int inner(int x)
{
	turn(100000);
	return x;
}

FUNCTION int outer(int x)
{
	traps_at_once();
	return inner(x) + x;
}

int main(void)
{
	struct itimerval often = {{0, 3000}, {0, 3000}};
	stack_t alternate = {.ss_sp = malloc(ALTERNATE_BYTES), .ss_size = ALTERNATE_BYTES};
	struct sigaction tick = {.sa_handler = on_tick, .sa_flags = SA_ONSTACK};
	struct sigaction trap = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

	sigaltstack(&alternate, NULL);
	sigaction(SIGALRM, &tick, NULL);
	sigaction(SIGILL, &trap, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (;;)
		outer(1);
}
