/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Divides the open files that jitbpf may have (RLIMIT_NOFILE). */
#ifndef JITBPF_AGENT_FILES_DESCRIPTOR_BUDGET_H
#define JITBPF_AGENT_FILES_DESCRIPTOR_BUDGET_H

#include <stdint.h>

/*
 * Returns the descriptors without which no recording is made: BPF programs, maps and links, sockets
 * to helper processes, events and rings of all CPUs, files in /proc while they are read, outputs.
 */
uint64_t descriptor_budget_needed(void);

/*
 * Returns how many of the `limit` descriptors may be kept for files that are seen again. Files
 * beyond that are found again by their paths, which costs time.
 */
uint64_t descriptor_budget_kept(uint64_t limit);

#endif
