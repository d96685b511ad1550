/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks that a program allocates and switches between. Their outermost frame is where libc ends
 * a context: no call leads there.
 *
 * stack: system coroutine resumed leaf
 * stack: system coroutine resumed system
 * stack: _start system main resumes leaf
 * stack: _start system main resumes system
 * stack: _start system main system
 */
#include <stdlib.h>
#include <ucontext.h>

#include "tests/programs/stacks/stacks.h"

#define COROUTINES  4
#define STACK_BYTES (64u << 10)

static ucontext_t main_context, contexts[COROUTINES];

FUNCTION int leaf(int x)
{
	turn(50000);
	return x;
}

FUNCTION int resumed(int number)
{
	leaf(number);
	swapcontext(&contexts[number], &main_context);
	return number;
}

FUNCTION void coroutine(int number)
{
	for (;;)
		resumed(number);
}

FUNCTION int resumes(int number)
{
	swapcontext(&main_context, &contexts[number]);
	return leaf(number) + number;
}

int main(void)
{
	for (int i = 0; i < COROUTINES; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = malloc(STACK_BYTES);
		contexts[i].uc_stack.ss_size = STACK_BYTES;
		makecontext(&contexts[i], (void (*)(void))(void *)coroutine, 1, i);
	}
	for (int i = 0;; i = (i + 1) % COROUTINES)
		resumes(i);
}
