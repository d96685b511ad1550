/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * descent ROUNDS: deep recursion whose depth changes all the time. Each round evaluates random
 * expressions by recursive descent below 100 frames that stay, as an interpreter or parser does.
 */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noipa))

#define BASE_FRAMES	 100
#define EXPRESSION_DEPTH 24

static unsigned int next(unsigned int *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

NOINLINE static unsigned int term(unsigned int depth, unsigned int *seed);

NOINLINE static unsigned int expression(unsigned int depth, unsigned int *seed)
{
	unsigned int value = 0;

	for (unsigned int i = next(seed) % 3; i < 3; i++)
		value = value * 31 + term(depth + 1, seed);
	return value;
}

NOINLINE static unsigned int term(unsigned int depth, unsigned int *seed)
{
	unsigned int value = next(seed);

	for (unsigned int i = 0; i < 200; i++)
		value ^= value << 13 ^ value >> 7;
	return depth < EXPRESSION_DEPTH && value % 5 < 3 ? expression(depth + 1, seed) : value;
}

NOINLINE static unsigned int descend(unsigned int frames, unsigned int *seed)
{
	unsigned int value = 0;

	if (frames) {
		value = descend(frames - 1, seed);
		__asm__ volatile("" : "+r"(value)); /* no loop */
		return value;
	}
	for (int i = 0; i < 100; i++)
		value += expression(0, seed);
	return value;
}

int main(int argc, char **argv)
{
	unsigned int seed = 1, sum = 0;

	for (int rounds = argc > 1 ? atoi(argv[1]) : 1; rounds; rounds--)
		sum += descend(BASE_FRAMES, &seed);
	printf("%u\n", sum);
	return 0;
}
