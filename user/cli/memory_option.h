/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The option --max-memory, of commands that have an analysis. */
#ifndef JITBPF_CLI_MEMORY_OPTION_H
#define JITBPF_CLI_MEMORY_OPTION_H

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

/* Returns the memory for the single samples that an output over time keeps, beside the value. */
static inline uint64_t memory_of_samples(uint64_t max_bytes)
{
	return 2 * max_bytes;
}

/*
 * Divide the value of --max-memory, in bytes. Return the parts for JIT code and mappings, for the
 * profile, for modules, for known files, and for symbols. Debug info, unwind rows and queues use
 * the rest, and have limits of their own.
 */
static inline uint64_t memory_of_state(uint64_t max_bytes)
{
	return max_bytes / 8 * 3;
}

static inline uint64_t memory_of_profile(uint64_t max_bytes)
{
	return max_bytes / 8 * 3;
}

static inline uint64_t memory_of_modules(uint64_t max_bytes)
{
	return max_bytes / 16;
}

static inline uint64_t memory_of_files(uint64_t max_bytes)
{
	return max_bytes / 16;
}

static inline uint64_t memory_of_symbols(uint64_t max_bytes)
{
	return max_bytes / 16;
}

#endif
