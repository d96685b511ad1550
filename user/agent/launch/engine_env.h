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

/* What the user chose. */
struct engine_env_choice {
	bool jit_debug;	 /* with variables that let engines generate slower code */
	bool java_lines; /* with --java-debug-nonsafepoints */
};

/*
 * Call take for each variable; *env is borrowed for the call. shim_path is absolute. A variable
 * whose folder is missing beside the shim is left out. Returns 0, or the first result of take that
 * is not 0.
 */
int engine_env_each(const char *shim_path, const struct engine_env_choice *choice,
		    int (*take)(void *context, const struct engine_env *env), void *context);

/* Set the variables in our own environment. Returns 0 or -ENOMEM. */
int engine_env_apply(const char *shim_path, const struct engine_env_choice *choice);

#endif
