/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The budget for reading journals, of one process or of all: bytes, and time spent waiting for a
 * compaction to end. Both are token buckets that refill with time, so that a process which causes
 * constant reading gets a limited share.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_BUDGET_H
#define JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct journal_allowance {
	uint64_t level, most; /* available, and the limit of that */
	uint64_t per_second;  /* refill */
};

struct journal_budget {
	struct journal_allowance bytes;
	struct journal_allowance wait_ns;
	uint64_t filled_ns; /* time of the last refill; 0: none */
};

static inline void journal_allowance_fill(struct journal_allowance *allowance, uint64_t elapsed_ns)
{
	uint64_t more = (uint64_t)((__uint128_t)elapsed_ns * allowance->per_second / 1000000000u);

	allowance->level = allowance->most - allowance->level > more ? allowance->level + more
								     : allowance->most;
}

static inline void journal_budget_fill(struct journal_budget *budget, uint64_t now_ns)
{
	uint64_t elapsed_ns = budget->filled_ns ? now_ns - budget->filled_ns : 0;

	journal_allowance_fill(&budget->bytes, elapsed_ns);
	journal_allowance_fill(&budget->wait_ns, elapsed_ns);
	budget->filled_ns = now_ns;
}

/* Returns false, with nothing taken, if less than amount is available. */
static inline bool journal_allowance_take(struct journal_allowance *allowance, uint64_t amount)
{
	if (allowance->level < amount)
		return false;
	allowance->level -= amount;
	return true;
}

#endif
