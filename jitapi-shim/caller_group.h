/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which callers of NotifyEvent are one engine: those in the same mapped file, since
 * each copy of the API's static part counts method ids of its own.
 */
#ifndef JITBPF_SHIM_CALLER_GROUP_H
#define JITBPF_SHIM_CALLER_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "jitapi-shim/scratch.h"

#define CALLERS_MAX 256

struct caller_groups {
	uint32_t count, last;
	bool unsure; /* there are several, and of one at least it is not known where it lies */
	struct caller {
		uint64_t address;
		uint64_t file; /* where it lies; 0: in none */
		uint32_t group;
	} callers[CALLERS_MAX];
};

#define CALLER_GROUPS_BYTES (sizeof(struct caller_groups) + (16u << 10))

/* Tell of a caller, all of them before they are asked for. */
void caller_groups_add(struct caller_groups *groups, uint64_t caller);

/* Look where they lie. Takes its buffer from the scratch. */
void caller_groups_resolve(struct caller_groups *groups, struct scratch *scratch);

/* The same number for callers of one engine, never 0; all those that lie in no file share one. */
uint32_t caller_groups_get(struct caller_groups *groups, uint64_t caller);

#endif
