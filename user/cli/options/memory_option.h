/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The option --max-memory, of commands that have an analysis. */
#ifndef JITBPF_CLI_OPTIONS_MEMORY_OPTION_H
#define JITBPF_CLI_OPTIONS_MEMORY_OPTION_H

#include <stdint.h>

#define MEMORY_DEFAULT (256ull << 20)
#define MEMORY_MIN     (16ull << 20)

#define MEMORY_OPTION(at)                                                                            \
	{                                                                                            \
		0, "max-memory", OPTION_SIZE, at, "SIZE",                                            \
			"memory for what processes do, shared fairly by users and cgroups (default " \
			"256M)",                                                                     \
			MEMORY_MIN, 1ull << 40                                                       \
	}

#endif
