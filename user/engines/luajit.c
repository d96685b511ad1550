/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* LuaJIT. */
#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "engines/engines.h"
#include "engines/runtime_file.h"

static bool is_runtime(const char *file)
{
	return !strcmp(file, "luajit") || begins_with(file, "luajit-") ||
	       runtime_file_is_library(file, "libluajit", "");
}

/* From luajit-2.1.0-beta3, or from libluajit-5.1.so.2.1.0, where 5.1 is the version of Lua. */
static struct engine_version version(const char *path)
{
	const char *file = path_file(path);

	return runtime_file_version_behind(file, begins_with(file, "lib") ? ".so." : "luajit-");
}

static const char *advice(const char *command, const struct engine_version *version)
{
	return "it does not publish its code in a form that jitbpf reads";
}

const struct engine engine_luajit = {
	.name = "LuaJIT",
	.is_runtime = is_runtime,
	.version = version,
	.advice = advice,
};
