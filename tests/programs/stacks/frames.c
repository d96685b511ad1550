/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames of all kinds: with a size known only at run time; with a larger alignment than the stack
 * (gcc then keeps the address of the arguments, DRAP, in a register or in the frame); larger than
 * a stack copy.
 *
 * stack: _start system main varying variable_array leaf
 * stack: _start system main aligned aligned_and_varying leaf
 * stack: _start system main large larger leaf
 * stack: _start system main many_arguments leaf
 */
#include <alloca.h>

#include "tests/programs/stacks/stacks.h"

FUNCTION int leaf(volatile void *p, int x)
{
	*(volatile char *)p = 1;
	turn(1000);
	return x;
}

FUNCTION int variable_array(int n)
{
	volatile int array[opaque(n)];

	return leaf(array, n) + array[0];
}

FUNCTION int varying(int n)
{
	volatile char *room = alloca(opaque(n));

	*room = 2;
	return variable_array(n) + *room;
}

FUNCTION int aligned_and_varying(int n, int b, int c, int d, int e, int f, int g)
{
	volatile int array[8] __attribute__((aligned(64)));
	volatile char *room = alloca(opaque(n));

	array[0] = g;
	return leaf(room, n) + leaf(array, b + c + d + e + f) + array[0] + *room;
}

FUNCTION int aligned(int n)
{
	volatile int array[16] __attribute__((aligned(64)));

	array[1] = n;
	return aligned_and_varying(n, 1, 2, 3, 4, 5, 6) + array[1];
}

FUNCTION int larger(int n)
{
	volatile char room[70000];

	return leaf(room, n) + room[0];
}

FUNCTION int large(int n)
{
	volatile char room[30000];

	room[n] = 1;
	return larger(n) + room[n];
}

FUNCTION int many_arguments(int a, int b, int c, int d, int e, int f, int g, int h)
{
	volatile int room = a + b + c + d + e + f + g + h;

	return leaf(&room, a) + g + h;
}

int main(void)
{
	for (int n = 1;; n = n % 100 + 1) {
		varying(n);
		aligned(n);
		large(n);
		many_arguments(n, 2, 3, 4, 5, 6, 7, 8);
	}
}
