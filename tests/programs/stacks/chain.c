/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sixty functions deep. All of them do about the same little work, so that samples hit each
 * function, including its prologue and epilogue.
 *
 * stack: _start system main chain_59..chain_0 leaf
 */
#include "tests/programs/stacks/stacks.h"

#define TURNS 500

FUNCTION int leaf(int x)
{
	turn(TURNS);
	return x;
}

/* x stays in a callee-saved register over the call; every other function has a larger frame. */
#define LINK(number, next)                                                                         \
	FUNCTION int chain_##number(int x)                                                         \
	{                                                                                          \
		volatile int room[1 + number % 2 * 11];                                            \
		room[0] = x;                                                                       \
		return next(x + 1) + x + room[0];                                                  \
	}
/* clang-format off */
#define LINKS(tens, next)                                                                          \
	LINK(tens##0, next)                                                                        \
	LINK(tens##1, chain_##tens##0)                                                             \
	LINK(tens##2, chain_##tens##1)                                                             \
	LINK(tens##3, chain_##tens##2)                                                             \
	LINK(tens##4, chain_##tens##3)                                                             \
	LINK(tens##5, chain_##tens##4)                                                             \
	LINK(tens##6, chain_##tens##5)                                                             \
	LINK(tens##7, chain_##tens##6)                                                             \
	LINK(tens##8, chain_##tens##7)                                                             \
	LINK(tens##9, chain_##tens##8)
/* clang-format on */

LINK(0, leaf)
LINK(1, chain_0)
LINK(2, chain_1)
LINK(3, chain_2)
LINK(4, chain_3)
LINK(5, chain_4)
LINK(6, chain_5)
LINK(7, chain_6)
LINK(8, chain_7)
LINK(9, chain_8)
LINKS(1, chain_9)
LINKS(2, chain_19)
LINKS(3, chain_29)
LINKS(4, chain_39)
LINKS(5, chain_49)

int main(void)
{
	for (;;)
		chain_59(1);
}
