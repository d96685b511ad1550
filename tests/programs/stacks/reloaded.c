/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The two libraries of reload.c, selected by NAME and ROOM. */
#include "tests/programs/stacks/stacks.h"

#define PASTE(a, b) a##b
#define NAMED(a, b) PASTE(a, b)
#define INNER	    NAMED(NAME, _inner)
#define OUTER	    NAMED(NAME, _outer)

int INNER(int (*call)(int x));
int OUTER(int (*call)(int x));

FUNCTION int INNER(int (*call)(int x))
{
	volatile long room[ROOM];

	room[0] = 1;
	return call(1) + (int)room[0];
}

FUNCTION int OUTER(int (*call)(int x))
{
	volatile long room[2 * ROOM];

	room[0] = 1;
	return INNER(call) + (int)room[0];
}
