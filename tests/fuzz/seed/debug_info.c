/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program of the corpus debug_info: a few functions, inlined into each
 * other.
 *   gcc|clang -O2 -g -gdwarf-4|5 -nostdlib -static -Wl,--build-id=none -Wl,-z,noseparate-code
 */
static inline __attribute__((always_inline)) int inner(int x)
{
	return x * x % 7;
}

static inline __attribute__((always_inline)) int outer(int x)
{
	if (x > 3)
		return inner(x) + inner(x + 1);
	return inner(x - 1);
}

__attribute__((noinline)) int plain(int x)
{
	return x / 3;
}

__attribute__((noinline)) int function(volatile int *x)
{
	int sum = outer(*x);

	if (__builtin_expect(*x == 5, 0)) {
		*x = plain(sum);
		__builtin_trap();
	}
	return sum + outer(*x) + plain(sum);
}

void _start(void);

void _start(void)
{
	volatile int x = 1;

	function(&x);
	for (;;)
		;
}
