/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The option --max-memory, of commands that have an analysis. Without it, its value is 0. */
#ifndef JITBPF_CLI_OPTIONS_MEMORY_OPTION_H
#define JITBPF_CLI_OPTIONS_MEMORY_OPTION_H

#include <stdint.h>

#define MEMORY_MIN (16ull << 20)

#define MEMORY_OPTION(at, by_default)                                                              \
	{                                                                                          \
		0, "max-memory", OPTION_SIZE, at, "SIZE",                                          \
			"memory for what processes do, shared fairly by users and cgroups "        \
			"(default: " by_default ", at least 256M)",                                \
			MEMORY_MIN, 1ull << 40                                                     \
	}

/* Of commands that record, and of commands that read recordings. */
#define MEMORY_OPTION_OF_RUN(at)    MEMORY_OPTION(at, "2 % of the memory")
#define MEMORY_OPTION_OF_READER(at) MEMORY_OPTION(at, "a quarter of the memory that is free")

#endif
