/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A 32-bit program without a C library, which the compiler of a 64-bit distribution can make:
 * recursion, a frame whose stack is realigned, system calls, and signal handlers with both kinds of
 * signal frames, which return through the vDSO or through a function of the program.
 *
 * stack: _start begin outer recurse*20 realigned call_back leaf
 * stack: _start begin outer ask system
 * stack: _start begin outer system_call
 * stack: _start begin system on_tick handle
 * stack: _start begin system on_old handle
 * stack: _start begin restore on_own handle
 * stack: _start begin outer system on_tick handle
 * stack: _start begin outer system on_old handle
 * stack: _start begin outer restore on_own handle
 * stack: _start begin outer /^[aclrs][a-z_]+$/+ system on_tick handle
 * stack: _start begin outer /^[aclrs][a-z_]+$/+ system on_old handle
 * stack: _start begin outer /^[aclrs][a-z_]+$/+ restore on_own handle
 * stack: _start begin outer ask system restore on_own handle
 * stack: _start begin system_call
 */
#include "tests/programs/stacks/stacks.h"

#define SYS_GETPPID	 64
#define SYS_SETITIMER	 104
#define SYS_RT_SIGACTION 174
#define AT_SYSINFO	 32
#define SA_SIGINFO	 4u
#define SA_RESTORER	 0x04000000u

struct action {
	void *handler;
	unsigned int flags;
	void *restorer;
	unsigned int mask[2];
};

void restorer(void);

/*
 * Without call frame information, as in musl. A return address is named by the byte before it, so
 * handlers return to the second byte of restore().
 */
__asm__(".text\n"
	".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	"	xor %ebp, %ebp\n"
	"	mov %esp, %eax\n"
	"	and $-16, %esp\n"
	"	sub $12, %esp\n"
	"	push %eax\n"
	"	call begin\n"
	"	hlt\n"
	".size _start, . - _start\n"
	".type restore, @function\n"
	"restore:\n"
	"	nop\n"
	"restorer:\n"
	"	pop %eax\n"
	"	mov $119, %eax\n"
	"	int $0x80\n"
	"	nop\n"
	".size restore, . - restore\n");

static void *sysinfo;

FUNCTION int system_call(int number, int a, const void *b, const void *c, int d)
{
	__asm__ volatile("int $0x80" : "+a"(number) : "b"(a), "c"(b), "d"(c), "S"(d) : "memory");
	return number;
}

/* A system call as libc makes it. */
FUNCTION int ask(int number)
{
	__asm__ volatile("call *%1" : "+a"(number) : "m"(sysinfo) : "memory");
	return number;
}

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

FUNCTION void on_old(int number)
{
	handle(number);
	__asm__ volatile("");
}

FUNCTION void on_own(int number)
{
	handle(number);
	__asm__ volatile("");
}

FUNCTION int leaf(int x)
{
	turn(500);
	return x;
}

FUNCTION int call_back(int x)
{
	return leaf(x) + 1;
}

FUNCTION int realigned(int (*function)(int), int x)
{
	__attribute__((aligned(64))) volatile int room[16];

	room[0] = x;
	return function(x) + room[0];
}

FUNCTION int recurse(int depth, int x)
{
	volatile int room[1 + 5];

	room[0] = x;
	return depth ? recurse(depth - 1, x) + room[0] : realigned(call_back, x) + room[0];
}

FUNCTION int outer(int x)
{
	return recurse(19, x) + ask(SYS_GETPPID) + system_call(SYS_GETPPID, 0, 0, 0, 0);
}

static void act(int number, void (*handler)(int), unsigned int flags)
{
	struct action action = {handler, flags, restorer, {~0u, ~0u}};

	system_call(SYS_RT_SIGACTION, number, &action, 0, sizeof(action.mask));
}

/* at: the number of arguments, the arguments, the environment and the auxiliary vector. */
void begin(void **at)
{
	/* ITIMER_REAL, ITIMER_VIRTUAL and ITIMER_PROF send these signals. */
	static const int signals[] = {14, 26, 27};
	static const int often[3][4] = {{0, 3000, 0, 3000}, {0, 5000, 0, 5000}, {0, 7000, 0, 7000}};

	while (*++at)
		;
	while (*++at)
		;
	for (at++; *at && *at != (void *)AT_SYSINFO; at += 2)
		;
	sysinfo = at[1];
	act(signals[0], on_tick, SA_SIGINFO);
	act(signals[1], on_old, 0);
	act(signals[2], on_own, SA_RESTORER);
	for (int i = 0; i < 3; i++)
		system_call(SYS_SETITIMER, i, often[i], 0, 0);
	for (;;)
		outer(1);
}
