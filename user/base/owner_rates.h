/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Limits how much each owner uses in time: `most` at once, and per_second in the long run. What an
 * owner has used refills, and owners do not share it. The cgroups of a user count as one owner,
 * except those of root, and so do all owners beyond OWNER_USERS_MAX. Single-threaded.
 */
#ifndef JITBPF_BASE_OWNER_RATES_H
#define JITBPF_BASE_OWNER_RATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/owner_budget.h"
#include "base/vec.h"

struct owner_rate {
	struct owner_key owner;
	uint64_t left;
	uint64_t refilled_ns;
};

/* With limits, and otherwise zero-initialized, nothing is used. */
struct owner_rates {
	uint64_t most, per_second;
	VEC(struct owner_rate) owners;
};

/*
 * Use an amount at now_ns. Returns false if the owner has not so much left, or if memory is short.
 */
bool owner_rates_take(struct owner_rates *rates, struct owner_key owner, uint64_t amount,
		      uint64_t now_ns);

static inline void owner_rates_deinit(struct owner_rates *rates)
{
	vec_deinit(&rates->owners);
}

#endif
