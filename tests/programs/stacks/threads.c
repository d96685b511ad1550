/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads that start and end, beside main().
 *
 * stack: /^(__)?clone3$/ system begin outer inner
 * stack: /^(__)?clone3$/ system
 * stack: _start system main waits outer inner
 * stack: _start system main waits system
 */
#include <pthread.h>
#include <stddef.h>

#include "tests/programs/stacks/stacks.h"

FUNCTION int inner(int x)
{
	turn(50000000);
	return x;
}

FUNCTION int outer(int x)
{
	return inner(x) + x;
}

FUNCTION void *begin(void *argument)
{
	return (char *)argument + outer(1);
}

FUNCTION int waits(int turns)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, begin, NULL);
	outer(turns);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return turns;
}

int main(void)
{
	for (;;)
		waits(1);
}
