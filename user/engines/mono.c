/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Mono. */
#include <string.h>

#include "engines/engines.h"
#include "engines/runtime_file.h"

static bool is_runtime(const char *file)
{
	return !strcmp(file, "mono") || !strcmp(file, "mono-sgen") ||
	       runtime_file_is_library(file, "libmonosgen", "");
}

static const char *advice(const char *command, const struct engine_version *version)
{
	return "it does not publish its code in a form that jitbpf reads";
}

const struct engine engine_mono = {
	.name = "Mono",
	.is_runtime = is_runtime,
	.advice = advice,
};
