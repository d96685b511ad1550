/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions with frames of all shapes that compilers make; they are compared, never executed. */
#include <alloca.h>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#define API extern "C" __attribute__((visibility("default"), noinline))

extern "C" {
void use(void *p, long n);
long get(long n);
__attribute__((noreturn)) void give_up(const char *why);
}

API long leaf(long a, long b)
{
	return a * b + 1;
}

API long small(long a)
{
	return get(a) + get(a + 1);
}

API long many(long a, long b, long c, long d, long e, long f, long g, long h)
{
	long x = get(a + b), y = get(c + d), z = get(e + f), w = get(g + h);

	return x * y - z * w + leaf(x, y) * get(z) - get(w) * get(x + y + z + w) +
	       a * c * e * g * h;
}

API long varargs(const char *format, ...)
{
	char text[256];
	va_list list;
	int n;

	va_start(list, format);
	n = std::vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	use(text, n);
	return n;
}

API void array(long n)
{
	char *p = static_cast<char *>(alloca(n));

	for (long i = 0; i < n; i++)
		p[i] = get(i);
	use(p, n);
}

/* Larger than one page, and than many pages. */
API long large(long n)
{
	char text[6000];

	use(text, n);
	return text[n];
}

API long huge(long n)
{
	char text[300000];

	if (n < 0)
		give_up("negative");
	use(text, n);
	return text[n] + get(text[n + 1]);
}

API long cases(long n, long a)
{
	switch (n) {
	case 0:
		return get(a) + 1;
	case 1:
		use(&a, n);
		return a;
	case 2:
		a = get(a) * get(a + 1);
		break;
	case 3:
		give_up("three");
	case 4:
		a ^= get(5);
		break;
	case 5:
		return leaf(get(a), a);
	case 6:
		a += small(get(a) + a);
		break;
	case 7:
		return get(get(a));
	}
	return a + get(n);
}

/* Most calls return early, before any register is saved. */
API long early(long *p, long n)
{
	if (!p)
		return -1;
	if (n == 1)
		return *p;
	for (long i = 0; i < n; i++)
		p[i] = get(p[i]) + get(i) * p[0];
	return p[n - 1];
}

API long tail(long n, long a)
{
	char text[64];

	if (n < 10)
		return get(a);
	use(text, n);
	return n & 1 ? leaf(text[3], a) : tail(n - 10, a + text[n & 63]);
}

API void indirect(void (*const *functions)(long), long n)
{
	for (long i = 0; i < n; i++)
		functions[i](get(i));
	functions[n](0);
}

API long thrower(long n)
{
	try {
		std::string s(static_cast<size_t>(n), 'x');

		if (get(n) < 0)
			throw std::runtime_error(s);
		return static_cast<long>(s.size());
	} catch (const std::runtime_error &e) {
		use(const_cast<char *>(e.what()), n);
		return -1;
	} catch (...) {
		give_up("something");
	}
}

struct big {
	long words[20];
};

API big by_value(big a, long n)
{
	big b = a;

	use(&b, n);
	b.words[n] = get(a.words[n]);
	return b;
}

API long aligned(long n)
{
	alignas(64) long v[16];

	use(v, n);
	return v[n & 15] + get(n);
}

/* An aligned frame with a size known only at run time. */
API long aligned_array(long n, long a, long b, long c, long d, long e, long f)
{
	alignas(64) long v[16];
	void *p = alloca(n);

	use(v, n);
	use(p, n);
	return v[n & 15] + a + b + c + d + e + f + get(f);
}
