/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The environment in which the engines that we know publish their code, and all
 * others go on as ever. Only publishing is turned on, never an engine's own behaviour.
 */
#ifndef JITBPF_AGENT_LAUNCH_ENGINE_ENV_H
#define JITBPF_AGENT_LAUNCH_ENGINE_ENV_H

#include <limits.h>

/* What a variable's value does to one that is set already. */
enum engine_env_rule {
	ENGINE_ENV_OURS,   /* replaces it */
	ENGINE_ENV_THEIRS, /* leaves it */
	ENGINE_ENV_LIST,   /* goes behind it, after a colon; also behind nothing */
};

struct engine_env {
	const char *name;
	enum engine_env_rule rule;
	char value[PATH_MAX + 16];
};

/*
 * Call take for each variable; *env is borrowed for the call. shim_path is absolute. What
 * needs a file beside the shim that is not there is passed over.
 * Returns 0, or what take first returned that is not 0.
 */
int engine_env_each(const char *shim_path, int (*take)(void *context, const struct engine_env *env),
		    void *context);

/* Set them in our own environment. Returns 0 or -ENOMEM. */
int engine_env_apply(const char *shim_path);

#endif
