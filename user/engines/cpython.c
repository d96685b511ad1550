/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CPython. Code without a name in its processes is that of extensions, such as numba: there is no
 * advice of its own.
 */
#include <string.h>

#include "base/path.h"
#include "engines/engines.h"
#include "engines/runtime_file.h"

/* Not libpython3.so, which only refers to the library with the interpreter. */
static bool is_runtime(const char *file)
{
	return runtime_file_is_program(file, "python", "dmtu") ||
	       (runtime_file_is_library(file, "libpython", "dmtu") &&
		strcmp(file, "libpython3.so") != 0);
}

/* greenlet, on which gevent and eventlet are built: _greenlet.cpython-311-x86_64-linux-gnu.so */
static bool switches_stacks(const char *file)
{
	size_t bytes = strlen(file);

	return (!strncmp(file, "_greenlet.", strlen("_greenlet.")) ||
		!strncmp(file, "greenlet.", strlen("greenlet."))) &&
	       !strcmp(file + bytes - strlen(".so"), ".so");
}

static struct engine_version version(const char *path)
{
	return runtime_file_version_behind(path_file(path), "python");
}

const struct engine engine_cpython = {
	.name = "CPython",
	.is_runtime = is_runtime,
	.version = version,
	.switches_stacks = switches_stacks,
};
