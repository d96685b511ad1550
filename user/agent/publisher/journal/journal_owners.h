/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cost of recovering journals, by owner of the processes: a budget of bytes and time that
 * refills, and the time of the current round. An owner is a user, or a cgroup of root.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_OWNERS_H
#define JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_OWNERS_H

#include <stdint.h>

#include "agent/publisher/journal/journal_budget.h"
#include "base/vec.h"
#include "state/process/process_owners.h"

#define JOURNAL_OWNERS_MAX 256 /* further owners are one */
#define JOURNAL_LATE_NS	   3000000000ull

struct journal_owner {
	struct owner_key key;
	struct journal_budget budget;
	uint64_t served_ns; /* what the owner has cost in the current round (journal_recovery.h) */
	uint64_t late_ns;   /* when a round last ended without its answer; 0: never */
};

/*
 * Returns true if rounds no longer wait for processes of this owner that do not answer. Without
 * this limit, one owner could make all rounds wait.
 */
static inline bool journal_owner_is_late(const struct journal_owner *owner, uint64_t now_ns)
{
	return owner->late_ns && now_ns - owner->late_ns < JOURNAL_LATE_NS;
}

/* Zero-initialized: no owner has cost anything. */
struct journal_owners {
	const struct journal_budget *full; /* of a new owner; NULL: the default */
	VEC(struct journal_owner) owners;
};

/*
 * Find or add the owner of a process; processes NULL: of all. Its budget is filled for now_ns. The
 * result is valid until the next call. Returns NULL without memory.
 */
struct journal_owner *journal_owners_get(struct journal_owners *owners,
					 const struct process_owners *processes, uint32_t pid,
					 uint64_t now_ns);

/*
 * End a round: resets the costs of the round, and forgets owners with full budgets that are not
 * late.
 */
void journal_owners_end_round(struct journal_owners *owners, uint64_t now_ns);

void journal_owners_deinit(struct journal_owners *owners);

#endif
