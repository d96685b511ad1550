/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mixed SECONDS: a C program with stacks of many forms: sorting with a callback, two recursions, a
 * loop, and system calls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct tree {
	struct tree *children[2];
	unsigned key;
};

static unsigned random_number(void)
{
	static unsigned seed = 1;

	seed = seed * 1664525 + 1013904223;
	return seed >> 8;
}

static int compare(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return x < y ? -1 : x > y;
}

__attribute__((noinline)) static unsigned long sort(void)
{
	static unsigned numbers[100000];

	for (size_t i = 0; i < 100000; i++)
		numbers[i] = random_number();
	qsort(numbers, 100000, sizeof(numbers[0]), compare);
	return numbers[5];
}

__attribute__((noinline)) static unsigned long fibonacci(unsigned n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__attribute__((noinline)) static struct tree *insert(struct tree *tree, unsigned key)
{
	struct tree **child;

	if (!tree) {
		tree = calloc(1, sizeof(*tree));
		tree->key = key;
		return tree;
	}
	child = &tree->children[key < tree->key];
	*child = insert(*child, key);
	return tree;
}

__attribute__((noinline)) static void drop(struct tree *tree)
{
	if (!tree)
		return;
	drop(tree->children[0]);
	drop(tree->children[1]);
	free(tree);
}

__attribute__((noinline)) static double multiply(void)
{
	static double a[100][100], b[100][100], c[100][100];

	for (size_t i = 0; i < 100; i++)
		for (size_t j = 0; j < 100; j++)
			for (size_t k = 0; k < 100; k++)
				c[i][j] += a[i][k] * b[k][j] + (double)i;
	return c[1][1];
}

__attribute__((noinline)) static unsigned long read_zeros(void)
{
	FILE *file = fopen("/dev/zero", "r");
	unsigned long sum = 0;
	char bytes[4096];

	for (int i = 0; i < 200; i++)
		sum += fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	return sum;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	unsigned long sum = 0;

	while (now() < seconds) {
		struct tree *tree = NULL;

		sum += sort() + fibonacci(25) + (unsigned long)multiply() + read_zeros();
		for (int i = 0; i < 20000; i++)
			tree = insert(tree, random_number());
		drop(tree);
	}
	printf("%lu\n", sum);
	return 0;
}
