/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs the CPython of a library, which others may change meanwhile.
 *
 * usage: library_host LIBRARY ARGUMENT...     as of python3
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
	int (*run)(int, char **) =
		library ? (int (*)(int, char **))dlsym(library, "Py_BytesMain") : NULL;

	if (!run) {
		fprintf(stderr, "library_host: %s\n", argc > 1 ? dlerror() : "no library");
		return 1;
	}
	return run(argc - 1, argv + 1);
}
