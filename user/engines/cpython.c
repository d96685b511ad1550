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

static struct engine_version version(const char *path)
{
	return runtime_file_version_behind(path_file(path), "python");
}

const struct engine engine_cpython = {
	.name = "CPython",
	.is_runtime = is_runtime,
	.version = version,
};
