/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls through a procedure linkage table, of an empty function.
 *
 * stack: _start system main calls empty@plt
 * stack: _start system main calls empty
 * stack: _start system main calls empty@plt system
 * stack: _start system main calls system
 */
#include "tests/programs/stacks/stacks.h"

void empty(void);

FUNCTION int calls(int times)
{
	for (int i = 0; i < times; i++) {
		empty();
		__asm__ volatile("");
	}
	return times;
}

int main(void)
{
	for (;;)
		calls(100000);
}
