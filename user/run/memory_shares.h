/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How --max-memory is divided among the stages of a run, or of a replay. */
#ifndef JITBPF_RUN_MEMORY_SHARES_H
#define JITBPF_RUN_MEMORY_SHARES_H

#include <stdint.h>

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
