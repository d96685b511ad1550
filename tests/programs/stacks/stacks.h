/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs with known stacks, for tests of stack walking
 * (tests/kernel/test_unwind.py). Each program runs until it is killed. Its
 * first comment describes the stacks it can have, see
 * tests/kernel/stack_truth.py.
 */
#ifndef JITBPF_STACKS_H
#define JITBPF_STACKS_H

#if defined(__clang__)
#define FUNCTION __attribute__((noinline))
#else
#define FUNCTION __attribute__((noipa))
#endif

/* Hides a value from the optimizer. */
static inline int opaque(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x;
}

static inline void turn(unsigned int times)
{
	while (times--)
		__asm__ volatile("");
}

#endif
