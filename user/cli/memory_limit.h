/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A limit of the whole memory of a process that shows recordings. A recording of a few kilobytes
 * can make any of its readers and writers allocate; the kernel refuses more than the limit.
 */
#ifndef JITBPF_CLI_MEMORY_LIMIT_H
#define JITBPF_CLI_MEMORY_LIMIT_H

#include <stdint.h>

/* Return the default of --max-memory: of a run, and of each of some recordings that are read. */
uint64_t memory_of_run(void);
uint64_t memory_of_reader(uint32_t recordings);

/*
 * Memory that a process takes for a recording at most, beside what it has at its start: names of
 * functions have a limit of their own.
 */
#define MEMORY_LIMIT_FACTOR 5
#define MEMORY_LIMIT_MORE   (256ull << 20)

/*
 * Let this process allocate memory for one more recording that is read with a --max-memory of
 * max_bytes: a multiple of that, as far as it is free. Allocations beyond fail with ENOMEM. A lower
 * limit of the caller (RLIMIT_DATA) stays.
 */
void memory_limit_add(uint64_t max_bytes);

/* Print that memory is short, and what to do. */
void memory_limit_say(void);

#endif
