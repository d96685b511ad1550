/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Perl 5, which has no machine code of its own. */
#include "base/path.h"
#include "engines/engines.h"
#include "engines/runtime_file.h"

static bool is_runtime(const char *file)
{
	return runtime_file_is_program(file, "perl", "") ||
	       runtime_file_is_library(file, "libperl", "");
}

/* libperl.so.5.36.0, perl5.36.0; plain "perl" says nothing. */
static struct engine_version version(const char *path)
{
	const char *file = path_file(path);
	struct engine_version version = runtime_file_version_behind(file, ".so.");

	return version.parts ? version : runtime_file_version_behind(file, "perl");
}

const struct engine engine_perl = {
	.name = "Perl",
	.is_runtime = is_runtime,
	.version = version,
};
