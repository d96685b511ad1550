// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* busy SECONDS: the attacker's program, with inlined functions; its sections are then falsified. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static inline __attribute__((always_inline)) uint64_t attacker_inner(uint64_t turns)
{
	for (uint64_t i = 0; i < 1000; i++)
		asm volatile("imul %0, %0" : "+r"(turns));
	return turns;
}

static inline __attribute__((always_inline)) uint64_t attacker_middle(uint64_t turns)
{
	return attacker_inner(turns) + attacker_inner(turns + 1);
}

static __attribute__((noinline)) uint64_t attacker_outer(uint64_t depth)
{
	uint64_t below = depth ? attacker_outer(depth - 1) : 0;

	return attacker_middle(depth) + below;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);

	while (clock() < end)
		attacker_outer(20);
	return 0;
}
