// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * victim: spends 10, 20, 33 and 37 percent of its time in four functions, until it is ended. A turn
 * is a chain of multiplications, which takes the same time in each function. The functions run for
 * random times of less than a millisecond, so that samples are independent of each other.
 */
#include <stdint.h>

static uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

#define WORK(name)                                                                                 \
	static void __attribute__((noinline)) name(uint64_t turns)                                 \
	{                                                                                          \
		uint64_t chain = turns;                                                            \
                                                                                                   \
		for (uint64_t i = 0; i < turns; i++)                                               \
			asm volatile("imul %0, %0\n\timul %0, %0" : "+r"(chain));                  \
	}

WORK(victim_tenth)
WORK(victim_fifth)
WORK(victim_third)
WORK(victim_rest)

int main(void)
{
	for (;;) {
		uint64_t turns = 500 + next_random() % 1000;

		victim_tenth(turns * 10);
		victim_fifth(turns * 20);
		victim_third(turns * 33);
		victim_rest(turns * 37);
	}
}
