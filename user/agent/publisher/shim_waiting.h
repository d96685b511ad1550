/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Mappings of copies of the shim that could not be attached to yet: the file or an attacher did not
 * answer in time, or no other copy could be detached. They are tried again.
 */
#ifndef JITBPF_AGENT_PUBLISHER_SHIM_WAITING_H
#define JITBPF_AGENT_PUBLISHER_SHIM_WAITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/owner_budget.h"
#include "uapi/record.h"

#define SHIM_WAITING_MAX 64	       /* mappings that are kept; owners share them */
#define SHIM_WAITING_NS	 5000000000ull /* from the event of a mapping until it is given up */
#define SHIM_RETRY_NS	 100000000ull  /* between two attempts */

struct shim_waiting {
	struct shim_waiting_mapping {
		struct jitbpf_mapping *mapping; /* owned */
		struct owner_key owner;		/* of the process */
		bool for_room;			/* waits for room; else for an answer */
	} mappings[SHIM_WAITING_MAX];
	size_t size;
	uint64_t tried_ns; /* when they were last seen */
};

/*
 * Keep a copy of a mapping, unless one of the same process and file is kept. Returns false if it is
 * too old, or if its owner has OWNER_BUDGET_SHARE times the number that others may still add.
 */
bool shim_waiting_keep(struct shim_waiting *waiting, const struct jitbpf_mapping *mapping,
		       struct owner_key owner, bool for_room);

/*
 * Remove the mappings and pass them to see(), every SHIM_RETRY_NS. see() may add them again.
 * Returns 0 or the function's first error.
 */
int shim_waiting_retry(struct shim_waiting *waiting,
		       int (*see)(void *context, const struct jitbpf_mapping *mapping),
		       void *context);

/* Returns how many mappings wait for room, or for an answer. */
uint64_t shim_waiting_count(const struct shim_waiting *waiting, bool for_room);

void shim_waiting_deinit(struct shim_waiting *waiting);

#endif
