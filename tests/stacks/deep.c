/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Deeper than a sample holds.
 *
 * stack: _start system main descend*200 leaf
 * end: depth
 */
#include "tests/stacks/stacks.h"

FUNCTION int leaf(int x)
{
	turn(100000);
	return x;
}

FUNCTION int descend(int levels)
{
	return opaque(levels > 1 ? descend(levels - 1) : leaf(levels)) + levels;
}

int main(void)
{
	for (;;)
		descend(200);
}
