/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Exceptions: thrown, searched for and caught, with cleanups on their way, and in functions that
 * end with a call that does not return, so that its return address lies in the next function or
 * after the last one. Just before the library continues at a handler, it replaces its own return
 * address by the handler's, and unwind tables are wrong there.
 *
 * stack: _start system main catches() passes(int) throws(int) system
 * stack: _start system main catches() passes(int) throws(int) leaf(int)
 * stack: _start system main catches() passes(int) Cleanup::~Cleanup() leaf(int)
 * stack: _start system main catches() passes(int) system
 * stack: _start system main catches() never_returns(int) throws(int) system
 * stack: _start system main catches() never_returns(int) throws(int) leaf(int)
 * stack: _start system main catches() passes(int) throws(int) passes(int) system
 * stack: _start system main catches() system
 * stack: catches() system
 * stack: _start system main catches() leaf(int)
 */
#include <stdexcept>

#include "tests/programs/stacks/stacks.h"

FUNCTION int leaf(int x)
{
	turn(2000);
	return x;
}

struct Cleanup {
	FUNCTION ~Cleanup()
	{
		leaf(1);
		asm volatile("");
	}
};

[[noreturn]] FUNCTION void throws(int x)
{
	leaf(x);
	throw std::runtime_error("thrown");
}

[[noreturn]] FUNCTION void never_returns(int x)
{
	throws(x + 1);
}

FUNCTION int passes(int x)
{
	Cleanup cleanup;

	throws(x);
	return x;
}

FUNCTION int catches()
{
	try {
		passes(1);
	} catch (const std::exception &) {
		leaf(2);
	}
	try {
		never_returns(1);
	} catch (const std::exception &) {
		leaf(3);
	}
	return opaque(1);
}

int main()
{
	for (;;)
		catches();
}
