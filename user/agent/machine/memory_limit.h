/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How much memory this process may use, together with others of its cgroup. */
#ifndef JITBPF_AGENT_MACHINE_MEMORY_LIMIT_H
#define JITBPF_AGENT_MACHINE_MEMORY_LIMIT_H

#include <stdint.h>

/*
 * Returns the smallest limit, in bytes, of our cgroup and those above it that can be seen, of
 * either version, and of the machine's memory. Limits are read below root ("": that of the
 * machine).
 */
uint64_t memory_limit_bytes(const char *root);

/* Returns how many bytes of the machine's memory are free or can be freed, up to that limit. */
uint64_t memory_free_bytes(const char *root);

#endif
