/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Nearly all samples are at the first or last instructions of a function, or in empty functions.
 *
 * stack: _start system main thin nothing
 * stack: _start system main pushes thin nothing
 */
#include "tests/programs/stacks/stacks.h"

FUNCTION void nothing(void)
{
	__asm__ volatile("");
}

FUNCTION void thin(void)
{
	nothing();
	__asm__ volatile("");
}

FUNCTION int pushes(int a, int b, int c)
{
	thin();
	return opaque(a) + opaque(b) + opaque(c);
}

int main(void)
{
	for (;;) {
		thin();
		pushes(1, 2, 3);
	}
}
