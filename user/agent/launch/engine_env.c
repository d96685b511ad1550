/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/launch/engine_env.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/scope.h"

/* Returns 0, -ENOENT (there is no such folder), or -ENAMETOOLONG. */
static int make_value(const struct engine_setting *setting, const char *shim_path, size_t size,
		      char *ret)
{
	int length;

	switch (setting->kind) {
	case ENGINE_SETTING_TEXT:
		length = snprintf(ret, size, "%s", setting->text);
		break;
	case ENGINE_SETTING_SHIM:
		length = snprintf(ret, size, "%s", shim_path);
		break;
	default:
		length = snprintf(ret, size, "%.*s/%s", path_folder_bytes(shim_path), shim_path,
				  setting->text);
		if (length > 0 && (size_t)length < size && access(ret, R_OK | X_OK))
			return -ENOENT;
	}
	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

int engine_env_each(const char *shim_path, int (*take)(void *context, const struct engine_env *env),
		    void *context)
{
	const struct engine *engine;
	int err = 0;

	for (size_t at = 0; (engine = engine_at(at)); at++) {
		for (size_t i = 0; i < engine->setting_count && !err; i++) {
			const struct engine_setting *setting = &engine->settings[i];
			struct engine_env env = {.name = setting->name, .rule = setting->rule};

			if (!make_value(setting, shim_path, sizeof(env.value), env.value))
				err = take(context, &env);
		}
	}
	return err;
}

static int apply(void *context, const struct engine_env *env)
{
	const char *before = getenv(env->name);
	AUTO_FREE char *joined = NULL;

	if (env->rule != ENGINE_SETTING_APPENDS)
		return setenv(env->name, env->value, env->rule == ENGINE_SETTING_REPLACES) ? -errno
											   : 0;
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
