/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks that are all different, 42 frames deep: descend() calls one of eight functions by chance,
 * which calls descend(), 19 times.
 */
#include <stdint.h>

#include "tests/programs/stacks/stacks.h"

#define CALLS 19

static uint64_t random_state = 1;

FUNCTION int descend(int depth);

#define CALL(number)                                                                               \
	FUNCTION int call_##number(int depth)                                                      \
	{                                                                                          \
		return opaque(descend(depth)) + number;                                            \
	}

CALL(0)
CALL(1)
CALL(2)
CALL(3)
CALL(4)
CALL(5)
CALL(6)
CALL(7)

static int (*const calls[])(int) = {call_0, call_1, call_2, call_3, call_4, call_5, call_6, call_7};

FUNCTION int descend(int depth)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	if (!depth) {
		turn(3000);
		return 0;
	}
	return calls[random_state >> 61](depth - 1) + 1;
}

int main(void)
{
	for (;;)
		descend(CALLS);
}
