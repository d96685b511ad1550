/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CRuby. YJIT writes a perf map at most, which is not read. */
#include "base/path.h"
#include "engines/engines.h"
#include "engines/runtime_file.h"

static bool is_runtime(const char *file)
{
	return runtime_file_is_program(file, "ruby", "") ||
	       runtime_file_is_library(file, "libruby", "");
}

/* libruby-3.1.so.3.1.2 has more of it at its end. */
static struct engine_version version(const char *path)
{
	const char *file = path_file(path);
	struct engine_version version = runtime_file_version_behind(file, ".so.");

	if (version.parts < 2)
		version = runtime_file_version_behind(file, "ruby");
	return version.parts ? version : runtime_file_version_behind(file, "ruby-");
}

static const char *advice(const char *command, const struct engine_version *version)
{
	return "it does not publish its code in a form that jitbpf reads";
}

const struct engine engine_ruby = {
	.name = "Ruby",
	.is_runtime = is_runtime,
	.version = version,
	.advice = advice,
};
