/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A chain of programs of about 20 ms each: each one forks, and the child executes the same program.
 *
 * stack: _start system main outer inner
 * stack: _start system main system
 * stack: _start system main /^\[unknown\]$/
 */
#include <stdlib.h>
#include <unistd.h>

#include "tests/programs/stacks/stacks.h"

FUNCTION int inner(int x)
{
	turn(20000000);
	return x;
}

FUNCTION int outer(int x)
{
	return inner(x) + x;
}

int main(int argc, char **argv)
{
	outer(1);
	if (fork())
		pause(); /* until killed */
	execv(argv[0], argv);
	return 1;
}
