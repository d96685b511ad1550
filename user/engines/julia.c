/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Julia. */
#include <string.h>

#include "base/scope.h"
#include "base/text.h"
#include "engines/engines.h"
#include "engines/runtime_file.h"

static const char *const prefixes[] = {"julia_", "jfptr_", "japi1_", "jlsys_", "jlplt_"};

/*
 * "julia_f_123" becomes "julia_f". Methods of f(), and their code for several types, differ in the
 * number only.
 */
static void unnumber(char *name)
{
	char *number = strrchr(name, '_');
	bool is_number = number && number[1] && !number[1 + strspn(number + 1, "0123456789")];

	for (size_t i = 0; i < ARRAY_SIZE(prefixes) && is_number; i++) {
		if (begins_with(name, prefixes[i]) && number > name + strlen(prefixes[i])) {
			*number = 0;
			return;
		}
	}
}

static const struct engine_setting settings[] = {
	{.name = "ENABLE_JITPROFILING", .rule = ENGINE_SETTING_DEFAULT, .text = "1"},
};

static bool is_runtime(const char *file)
{
	return !strcmp(file, "julia") || runtime_file_is_library(file, "libjulia", "") ||
	       runtime_file_is_library(file, "libjulia-internal", "");
}

static struct engine_version version(const char *path)
{
	return runtime_file_version_behind(path, "/julia-");
}

static const char *advice(const char *command, const struct engine_version *version)
{
	return *command ? "it has not published this code, although it has the variables of "
			  "'jitbpf env': its build may lack support for the JIT API"
			: "start it with the variables of 'jitbpf env'";
}

const struct engine engine_julia = {
	.name = "Julia",
	.unnumber = unnumber,
	.is_runtime = is_runtime,
	.version = version,
	.advice = advice,
	.settings = settings,
	.setting_count = ARRAY_SIZE(settings),
};
