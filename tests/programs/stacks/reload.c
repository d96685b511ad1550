/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Libraries that replace each other: they have the same size and layout, and their functions have
 * frames of different sizes at the same addresses.
 *
 * stack: _start system main uses first_outer first_inner leaf
 * stack: _start system main uses second_outer second_inner leaf
 * stack: _start system main uses system /^(_init|_fini|frame_dummy|.*tm_clones)$/+ system
 * stack: _start system main uses system /^(__do_global_dtors_aux|.*tm_clones)$/+ system
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/programs/stacks/stacks.h"

#define TURNS 10000000 /* about 10 ms */

FUNCTION int leaf(int x)
{
	turn(TURNS);
	return x;
}

FUNCTION int uses(const char *path, const char *name)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*outer)(int (*call)(int x)) = library ? dlsym(library, name) : NULL;

	if (!outer)
		abort();
	return outer(leaf) + dlclose(library);
}

int main(int argc, char **argv)
{
	char first[4096], second[4096];

	snprintf(first, sizeof(first), "%s-first.so", argv[0]);
	snprintf(second, sizeof(second), "%s-second.so", argv[0]);
	for (;;) {
		uses(first, "first_outer");
		uses(second, "second_outer");
	}
}
