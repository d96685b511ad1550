/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * deep LEVELS [BYTES]: a function that calls itself so many times, and then leaf(), below an array
 * of so many bytes that is never written. The process has the name deep-LEVELS.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "tests/programs/stacks/stacks.h"

FUNCTION int leaf(int x)
{
	turn(100000);
	return x;
}

FUNCTION int descend(int levels)
{
	return opaque(levels > 1 ? descend(levels - 1) : leaf(levels)) + levels;
}

int main(int argc, char **argv)
{
	int levels = argc > 1 ? atoi(argv[1]) : 100;
	char *array = __builtin_alloca(argc > 2 ? strtoul(argv[2], NULL, 10) : 1), name[16];

	snprintf(name, sizeof(name), "deep-%d", levels);
	prctl(PR_SET_NAME, name);
	__asm__ volatile("" : : "r"(array) : "memory");
	for (;;)
		descend(levels);
}
