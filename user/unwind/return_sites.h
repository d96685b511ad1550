/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Places in files, and in memory of processes, that a frame pointer led to, and whether functions
 * can return there. Each place is requested once, as long as no other one takes its slot.
 */
#ifndef JITBPF_UNWIND_RETURN_SITES_H
#define JITBPF_UNWIND_RETURN_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/unwind_key.h"

#define RETURN_SITES_MAX 4096

enum return_site_state {
	RETURN_SITE_NEW,     /* to be requested, followed by return_sites_asked() */
	RETURN_SITE_WAITS,   /* for the answer, or for the slot, which another place has */
	RETURN_SITE_CAN,     /* functions can return there */
	RETURN_SITE_CAN_NOT, /* they cannot, or the file cannot be read */
};

struct return_sites {
	struct unwind_woken *woken; /* gets UNWIND_KEY_RETURN of answered places; or NULL */
	struct return_site {
		uint64_t offset; /* of the return address in the file; its address in memory */
		uint32_t module; /* number of the file; in memory, of the process */
		enum return_site_state state;
	} slots[RETURN_SITES_MAX];
};

/* Returns the key of the slot of a place, which answers for the place that has it wake. */
uint64_t return_sites_key(uint32_t module, uint64_t offset);

enum return_site_state return_sites_find(const struct return_sites *sites, uint32_t module,
					 uint64_t offset);

/* A place that is RETURN_SITE_NEW was requested. It takes its slot from another place. */
void return_sites_asked(struct return_sites *sites, uint32_t module, uint64_t offset);

/*
 * Take the answer for a place that was requested. error: 0 or a negative errno; after -ETIMEDOUT,
 * the place is RETURN_SITE_NEW again.
 */
void return_sites_take(struct return_sites *sites, uint32_t module, uint64_t offset, int error,
		       bool can_return);

#endif
