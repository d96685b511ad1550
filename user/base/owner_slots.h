/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The slots of a table that owners share (base/owner_budget.h). A slot is free, idle or busy. A
 * busy slot is never evicted, so the busy slots of an owner are limited to its share. If no slot is
 * free, the owner with most idle slots loses the slot that has been idle longest.
 *
 * The caller keeps the contents of slots in an array of its own. Single-threaded.
 */
#ifndef JITBPF_BASE_OWNER_SLOTS_H
#define JITBPF_BASE_OWNER_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/owner_budget.h"
#include "base/vec.h"

#define OWNER_SLOTS_NONE UINT32_MAX

struct owner_slots_queue;

struct owner_slot {
	struct owner_slots_queue *queue; /* of its owner; NULL: the slot is free */
	uint32_t older, newer;		 /* in the queue, if idle; newer: also the next free slot */
	bool busy;
};

struct owner_slots {
	struct owner_slot *slots;
	uint32_t count;
	uint32_t used; /* slots that were ever used */
	uint32_t free; /* head of the list of freed slots */
	struct owner_budget busy, idle;
	VEC(struct owner_slots_queue *) queues; /* by owner */
};

/* Discards the contents of a slot that its owner loses. */
typedef void (*owner_slots_evict_fn)(void *context, uint32_t slot);

/* Returns 0 or -ENOMEM. */
int owner_slots_init(struct owner_slots *slots, uint32_t count);
void owner_slots_deinit(struct owner_slots *slots); /* zero-initialized is allowed */

/*
 * Take a slot for an owner. It is idle at first. Returns 0 with *ret set, -EBUSY (all slots are
 * busy) or -ENOMEM. `evict` is called for a slot that another owner loses.
 */
int owner_slots_take(struct owner_slots *slots, struct owner_key owner, owner_slots_evict_fn evict,
		     void *context, uint32_t *ret);

/* Make an idle slot busy; no effect on a busy one. Returns 0, or -EDQUOT (beyond the share). */
int owner_slots_hold(struct owner_slots *slots, uint32_t slot);

/* Make a busy slot idle, the newest of its owner; no effect on an idle one. */
void owner_slots_let_go(struct owner_slots *slots, uint32_t slot);

/* Free a slot. */
void owner_slots_release(struct owner_slots *slots, uint32_t slot);

typedef bool (*owner_slots_match_fn)(const void *context, uint32_t slot);

/* Returns the oldest matching idle slot of an owner that has one, or OWNER_SLOTS_NONE. */
uint32_t owner_slots_find_idle(const struct owner_slots *slots, owner_slots_match_fn match,
			       const void *context);

#endif
