/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* GNU Guile, as a program or as an extension language. */
#include "base/path.h"
#include "engines/engines.h"
#include "engines/runtime_file.h"

static bool is_runtime(const char *file)
{
	return runtime_file_is_program(file, "guile", "") ||
	       runtime_file_is_library(file, "libguile", "");
}

static struct engine_version version(const char *path)
{
	return runtime_file_version_behind(path_file(path), "guile-");
}

static const char *advice(const char *command, const struct engine_version *version)
{
	return "it does not publish its code in a form that jitbpf reads";
}

const struct engine engine_guile = {
	.name = "Guile",
	.is_runtime = is_runtime,
	.version = version,
	.advice = advice,
};
