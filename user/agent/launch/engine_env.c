/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/launch/engine_env.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/scope.h"

enum value_kind {
	VALUE_TEXT,
	VALUE_SHIM,   /* the shim's path */
	VALUE_FOLDER, /* of that name, beside the shim */
};

static const struct engine_setting {
	const char *name;
	enum engine_env_rule rule;
	enum value_kind kind;
	const char *value;
} settings[] = {
	/* All that carry Intel's static loader. */
	{"INTEL_JIT_PROFILER64", ENGINE_ENV_OURS, VALUE_SHIM, NULL},
	/* LLVM: this API instead of the one for whole ELF modules. */
	{"INTEL_JIT_BACKWARD_COMPATIBILITY", ENGINE_ENV_THEIRS, VALUE_TEXT, "1"},
	{"NUMBA_ENABLE_PROFILING", ENGINE_ENV_THEIRS, VALUE_TEXT, "1"},
	/* Julia. */
	{"ENABLE_JITPROFILING", ENGINE_ENV_THEIRS, VALUE_TEXT, "1"},
	/* Intel's OpenCL for CPUs. */
	{"CL_CONFIG_USE_VTUNE", ENGINE_ENV_THEIRS, VALUE_TEXT, "True"},
	/* SpiderMonkey. */
	{"JS_LOAD_VTUNE_LIB", ENGINE_ENV_THEIRS, VALUE_TEXT, "1"},
	/* PHP: opcache.jit_debug; an empty entry before it is PHP's own folder. */
	{"PHP_INI_SCAN_DIR", ENGINE_ENV_LIST, VALUE_FOLDER, "php"},
};

/* Returns 0, -ENOENT (there is no such folder), or -ENAMETOOLONG. */
static int make_value(const struct engine_setting *setting, const char *shim_path, size_t size,
		      char *ret)
{
	int length;

	switch (setting->kind) {
	case VALUE_TEXT:
		length = snprintf(ret, size, "%s", setting->value);
		break;
	case VALUE_SHIM:
		length = snprintf(ret, size, "%s", shim_path);
		break;
	default:
		length = snprintf(ret, size, "%.*s/%s", path_folder_bytes(shim_path), shim_path,
				  setting->value);
		if (length > 0 && (size_t)length < size && access(ret, R_OK | X_OK))
			return -ENOENT;
	}
	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

int engine_env_each(const char *shim_path, int (*take)(void *context, const struct engine_env *env),
		    void *context)
{
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(settings) && !err; i++) {
		struct engine_env env = {.name = settings[i].name, .rule = settings[i].rule};

		if (!make_value(&settings[i], shim_path, sizeof(env.value), env.value))
			err = take(context, &env);
	}
	return err;
}

static int apply(void *context, const struct engine_env *env)
{
	const char *before = getenv(env->name);
	AUTO_FREE char *joined = NULL;

	if (env->rule != ENGINE_ENV_LIST)
		return setenv(env->name, env->value, env->rule == ENGINE_ENV_OURS) ? -errno : 0;
	if (asprintf(&joined, "%s:%s", before ?: "", env->value) < 0) {
		joined = NULL;
		return -ENOMEM;
	}
	return setenv(env->name, joined, 1) ? -errno : 0;
}

int engine_env_apply(const char *shim_path)
{
	return engine_env_each(shim_path, apply, NULL);
}
