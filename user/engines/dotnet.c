/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* .NET. Programs that contain the runtime in their own file are not known. */
#include <string.h>

#include "engines/engines.h"
#include "engines/runtime_file.h"

static bool is_runtime(const char *file)
{
	return !strcmp(file, "libcoreclr.so");
}

/* From the folder of the shared framework. */
static struct engine_version version(const char *path)
{
	return runtime_file_version_behind(path, "/Microsoft.NETCore.App/");
}

/* .NET Core 3.1 writes a perf map only. */
static const char *advice(const char *command, const struct engine_version *version)
{
	if (version->parts && version->part[0] < 5)
		return "it does not publish its code in a form that jitbpf reads";
	return "with DOTNET_PerfMapEnabled=2, it may write a jitdump file that jitbpf reads";
}

const struct engine engine_dotnet = {
	.name = ".NET",
	.is_runtime = is_runtime,
	.version = version,
	.advice = advice,
};
