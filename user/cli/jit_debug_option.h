/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The option --jit-debug of `record` and `env`. */
#ifndef JITBPF_CLI_JIT_DEBUG_OPTION_H
#define JITBPF_CLI_JIT_DEBUG_OPTION_H

#include "cli/options.h"

#define JIT_DEBUG_OPTION(field)                                                                    \
	{                                                                                          \
		0, "jit-debug", OPTION_FLAG, field, NULL,                                          \
			"also set variables that make engines generate debug info and slower "     \
			"code: lines of numba, names and lines of Intel's OpenCL",                 \
			0, 0                                                                       \
	}

#endif
