/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/search_limits.h"

#define COST_NS (1000000000ull / SEARCHES_A_SECOND)
#define MAX_NS	(COST_NS * SEARCHES_AT_ONCE)

/* Returns NULL if memory is short. */
static struct search_limit *find(struct search_limits *limits, uint32_t uid, uint64_t now_ns)
{
	struct search_limit new_ = {.uid = uid, .left_ns = MAX_NS, .now_ns = now_ns};

	vec_for_each (user, &limits->users) {
		if (user->uid == uid)
			return user;
	}
	if (limits->users.size < SEARCHING_USERS_MAX && vec_push(&limits->users, new_))
		return NULL;
	return &limits->users.data[limits->users.size - 1];
}

bool search_limits_allow(struct search_limits *limits, uint32_t uid, uint64_t now_ns)
{
	struct search_limit *user = find(limits, uid, now_ns);

	if (!user)
		return false;
	if (now_ns > user->now_ns) {
		user->left_ns += now_ns - user->now_ns;
		user->now_ns = now_ns;
	}
	if (user->left_ns > MAX_NS)
		user->left_ns = MAX_NS;
	if (user->left_ns < COST_NS)
		return false;
	user->left_ns -= COST_NS;
	return true;
}
