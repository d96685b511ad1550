/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of `record` and `env` that choose variables: field is a struct engine_env_choice. */
#ifndef JITBPF_CLI_OPTIONS_ENGINE_ENV_OPTIONS_H
#define JITBPF_CLI_OPTIONS_ENGINE_ENV_OPTIONS_H

#include "agent/launch/engine_env.h"
#include "cli/options/options.h"

/* clang-format off */
#define ENGINE_ENV_OPTIONS(field)                                                                  \
	{0, "jit-debug", OPTION_FLAG, (field) + offsetof(struct engine_env_choice, jit_debug),     \
	 NULL,                                                                                     \
	 "also set variables that make engines generate debug info and slower code: lines of "     \
	 "numba, names and lines of Intel's OpenCL",                                               \
	 0, 0},                                                                                    \
	{0, "java-debug-nonsafepoints", OPTION_FLAG,                                               \
	 (field) + offsetof(struct engine_env_choice, java_lines), NULL,                           \
	 "also set JAVA_TOOL_OPTIONS, so that JVMs which get the agent after their start show "    \
	 "all inlined methods; they print a line about the variable",                              \
	 0, 0}
/* clang-format on */

#endif
