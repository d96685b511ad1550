/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The environment variables that make all known engines publish their code (engines/engines.h),
 * with their values for one libjitbpf.so.
 */
#ifndef JITBPF_AGENT_LAUNCH_ENGINE_ENV_H
#define JITBPF_AGENT_LAUNCH_ENGINE_ENV_H

#include <limits.h>

#include "engines/engines.h"

struct engine_env {
	const char *name;
	enum engine_setting_rule rule;
	const char *follows; /* as in struct engine_setting; NULL: none */
	char value[PATH_MAX + 16];
};

/*
 * Call take for each variable; *env is borrowed for the call. shim_path is absolute. A variable
 * whose folder is missing beside the shim is left out. jit_debug: with those that let engines
 * generate slower code. Returns 0, or the first result of take that is not 0.
 */
int engine_env_each(const char *shim_path, bool jit_debug,
		    int (*take)(void *context, const struct engine_env *env), void *context);

/* Set the variables in our own environment. Returns 0 or -ENOMEM. */
int engine_env_apply(const char *shim_path, bool jit_debug);

#endif
