/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks that differ in one caller only: left() and right() have equal frames at the same place,
 * and so have all functions that they call. Which one called shows in the leaf.
 *
 * stack: _start system main left common_9..common_0 leaf_left
 * stack: _start system main right common_9..common_0 leaf_right
 */
#include "tests/programs/stacks/stacks.h"

typedef int (*leaf_fn)(int x);

#define LEAF(name)                                                                                 \
	FUNCTION int leaf_##name(int x)                                                            \
	{                                                                                          \
		turn(20000);                                                                       \
		return x;                                                                          \
	}

LEAF(left)
LEAF(right)

FUNCTION int common_0(leaf_fn leaf, int x)
{
	return leaf(x + 1) + x;
}

/* clang-format off */
#define COMMON(number, next)                                                                       \
	FUNCTION int common_##number(leaf_fn leaf, int x)                                          \
	{                                                                                          \
		return next(leaf, x + 1) + x;                                                      \
	}
/* clang-format on */

COMMON(1, common_0)
COMMON(2, common_1)
COMMON(3, common_2)
COMMON(4, common_3)
COMMON(5, common_4)
COMMON(6, common_5)
COMMON(7, common_6)
COMMON(8, common_7)
COMMON(9, common_8)

FUNCTION int left(int x)
{
	return common_9(leaf_left, x + 1) + x;
}

FUNCTION int right(int x)
{
	return common_9(leaf_right, x + 1) + x;
}

int main(void)
{
	for (;;) {
		left(1);
		right(1);
	}
}
