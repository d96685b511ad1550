/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/launch/engine_env.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/scope.h"

/* Returns 0, -ENOENT (there is no such folder, or no text), or -ENAMETOOLONG. */
static int make_value(const struct engine_setting *setting, const char *text, const char *shim_path,
		      size_t size, char *ret)
{
	int length;

	switch (setting->kind) {
	case ENGINE_SETTING_TEXT:
		if (!text)
			return -ENOENT;
		length = snprintf(ret, size, "%s", text);
		break;
	case ENGINE_SETTING_SHIM:
		length = snprintf(ret, size, "%s", shim_path);
		break;
	default:
		length = snprintf(ret, size, "%.*s/%s", path_folder_bytes(shim_path), shim_path,
				  text);
		if (length > 0 && (size_t)length < size && access(ret, R_OK | X_OK))
			return -ENOENT;
	}
	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

int engine_env_each(const char *shim_path, const struct engine_env_choice *choice,
		    int (*take)(void *context, const struct engine_env *env), void *context)
{
	const struct engine *engine;
	int err = 0;

	for (size_t at = 0; (engine = engine_at(at)); at++) {
		for (size_t i = 0; i < engine->setting_count && !err; i++) {
			const struct engine_setting *setting = &engine->settings[i];
			bool debug = choice->jit_debug && setting->debug_text;
			struct engine_env env = {
				.name = setting->name,
				.rule = debug ? ENGINE_SETTING_REPLACES : setting->rule,
				.follows = debug ? NULL : setting->follows,
			};

			if (setting->only_java_lines && !choice->java_lines)
				continue;
			if (!make_value(setting, debug ? setting->debug_text : setting->text,
					shim_path, sizeof(env.value), env.value))
				err = take(context, &env);
		}
	}
	return err;
}

static int apply(void *context, const struct engine_env *env)
{
	const char *before = getenv(env->name);
	const char *followed = env->follows ? getenv(env->follows) : NULL;
	AUTO_FREE char *joined = NULL;

	if (env->rule != ENGINE_SETTING_APPENDS && env->rule != ENGINE_SETTING_ADDS)
		return setenv(env->name, followed ?: env->value,
			      env->rule == ENGINE_SETTING_REPLACES)
			       ? -errno
			       : 0;
	if (asprintf(&joined, "%s%c%s", before ?: "",
		     env->rule == ENGINE_SETTING_APPENDS ? ':' : ' ', env->value) < 0) {
		joined = NULL;
		return -ENOMEM;
	}
	return setenv(env->name, joined, 1) ? -errno : 0;
}

int engine_env_apply(const char *shim_path, const struct engine_env_choice *choice)
{
	return engine_env_each(shim_path, choice, apply, NULL);
}
