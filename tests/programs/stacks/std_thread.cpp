/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads of the C++ library, and calls through its wrappers.
 *
 * stack: /^(__)?clone3$/ system /std::/+ begin(int) outer(int) inner(int)
 * stack: /^(__)?clone3$/ system /std::/+
 * stack: _start system main waits() outer(int) inner(int)
 * stack: _start system main waits() system
 * stack: _start system main waits() /std::/+ system
 */
#include <functional>
#include <thread>

#include "tests/programs/stacks/stacks.h"

FUNCTION int inner(int x)
{
	turn(50000000);
	return x;
}

FUNCTION int outer(int x)
{
	return inner(x) + x;
}

FUNCTION void begin(int x)
{
	outer(x);
	asm volatile("");
}

FUNCTION void waits()
{
	std::thread thread(std::bind(begin, 1));

	outer(1);
	thread.join();
}

int main()
{
	for (;;)
		waits();
}
