/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* SpiderMonkey, if it was built with --enable-vtune. */
#include "base/path.h"
#include "base/scope.h"
#include "engines/engines.h"
#include "engines/runtime_file.h"

static const struct engine_setting settings[] = {
	{.name = "JS_LOAD_VTUNE_LIB", .rule = ENGINE_SETTING_DEFAULT, .text = "1"},
};

/* The library of distributions, as gjs has it: libmozjs-102.so.0. */
static bool is_runtime(const char *file)
{
	return runtime_file_is_library(file, "libmozjs", "");
}

static struct engine_version version(const char *path)
{
	return runtime_file_version_behind(path_file(path), "libmozjs-");
}

static const char *advice(const char *command, const struct engine_version *version)
{
	return "only a SpiderMonkey that was built with --enable-vtune publishes its code, with the "
	       "variables of 'jitbpf env'";
}

const struct engine engine_spidermonkey = {
	.name = "SpiderMonkey",
	.is_runtime = is_runtime,
	.version = version,
	.advice = advice,
	.settings = settings,
	.setting_count = ARRAY_SIZE(settings),
};
