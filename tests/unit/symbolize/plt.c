/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Imports functions in all ways that make PLT entries: by call, by address, by both. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int (*volatile print)(const char *) = puts;
static char *(*volatile find)(const char *, const char *) = strstr;

int main(int argc, char **argv)
{
	char *(*volatile get)(const char *) = getenv;

	print(get("HOME") && getenv("PATH") && find(argv[0], "x") ? argv[0] : "none");
	return printf("%f %d\n", sin(argc), abs(atoi(argv[0]))) < 0;
}
