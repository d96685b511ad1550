/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/owner_rates.h"

/* Returns NULL if memory is short. */
static struct owner_rate *find(struct owner_rates *rates, struct owner_key owner, uint64_t now_ns)
{
	struct owner_rate new = {.left = rates->most, .refilled_ns = now_ns};

	if (owner.uid)
		owner.cgroup = 0;
	new.owner = owner;
	vec_for_each (rate, &rates->owners) {
		if (rate->owner.uid == owner.uid && rate->owner.cgroup == owner.cgroup)
			return rate;
	}
	if (rates->owners.size < OWNER_USERS_MAX && vec_push(&rates->owners, new))
		return NULL;
	return &rates->owners.data[rates->owners.size - 1];
}

/* The time of what is refilled counts as used, so that frequent calls lose nothing. */
static void refill(const struct owner_rates *rates, struct owner_rate *rate, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns > rate->refilled_ns ? now_ns - rate->refilled_ns : 0;
	__uint128_t more = (__uint128_t)passed_ns * rates->per_second / 1000000000;

	if (more >= rates->most - rate->left) {
		rate->left = rates->most;
		rate->refilled_ns += passed_ns;
		return;
	}
	rate->left += (uint64_t)more;
	rate->refilled_ns += (uint64_t)(more * 1000000000 / rates->per_second);
}

bool owner_rates_take(struct owner_rates *rates, struct owner_key owner, uint64_t amount,
		      uint64_t now_ns)
{
	struct owner_rate *rate = find(rates, owner, now_ns);

	if (!rate)
		return false;
	refill(rates, rate, now_ns);
	if (rate->left < amount)
		return false;
	rate->left -= amount;
	return true;
}
