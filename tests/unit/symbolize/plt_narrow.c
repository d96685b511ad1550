/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Imports functions, as plt.c does, in 32-bit code that needs no file of a distribution. */
int first(int x), second(int x), third(int x), fourth(int x);

#ifdef LIBRARY
int first(int x)
{
	return x;
}

int second(int x)
{
	return x + 1;
}

int third(int x)
{
	return x + 2;
}

int fourth(int x)
{
	return x + 3;
}
#else
int main(int x)
{
	int (*volatile by_address)(int) = third;

	return first(x) + second(x) + by_address(x) + third(x) + fourth(x);
}
#endif
