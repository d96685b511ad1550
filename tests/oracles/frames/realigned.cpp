/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions that align their stack, some with a frame size known only at run time. */
#include <alloca.h>
#include <cstdio>
#include <immintrin.h>

__attribute__((noinline)) static void use(void *p, void *q, int n)
{
	asm volatile("" ::"r"(p), "r"(q), "r"(n) : "memory");
}

__attribute__((noinline)) static float aligned(int n, __m256 x)
{
	alignas(64) __m256 v[4] = {x, x, x, x};

	use(v, &n, n);
	return v[n & 3][0];
}

__attribute__((noinline)) static float variable(int n, __m256 x)
{
	alignas(64) __m256 v[4] = {x, x, x, x};
	void *q = alloca(n);

	use(v, q, n);
	if (n > 1000)
		throw n;
	return v[n & 3][0] + aligned(n, x);
}

int main(int argc, char **)
{
	try {
		std::printf("%f\n", variable(argc, _mm256_set1_ps(argc)));
	} catch (int) {
		return 1;
	}
	return 0;
}
