/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code that can give way: regions in force in which no sample was located. Their names are in no
 * profile, so the memory is free when they are dropped (JITBPF_CODE_EVICTED).
 */
#ifndef JITBPF_STATE_CODE_CODE_EVICT_H
#define JITBPF_STATE_CODE_CODE_EVICT_H

#include <stdbool.h>
#include <stdint.h>

#include "state/code/code_map.h"

#define CODE_EVICT_LOOKS_MAX 8192 /* regions that one search looks at */

/* Neighbouring regions that can give way. All regions that begin in the range are among them. */
struct code_run {
	uint64_t address, size_bytes;
	uint64_t regions;
	uint64_t bytes; /* that will be released, at least */
};

/*
 * Find the next such regions of at most `bytes`, charged to an owner, and loaded before before_ns.
 * Each search goes on where the one before has ended, and begins anew at the end of the map.
 * Returns false if it found none; *ret is unchanged then.
 */
bool code_map_next_evictable(struct code_map *map, const struct budget_owner *owner,
			     uint64_t before_ns, uint64_t bytes, struct code_run *ret);

/* Returns the number of methods without code. */
size_t code_map_registrations(const struct code_map *map);

#endif
