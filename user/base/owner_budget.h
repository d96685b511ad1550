/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A budget that owners share: users, and the cgroups of each user. The amounts are bytes or counts.
 * No owner can use up the budget, so others always get a part of it.
 *
 * For objects that can be evicted: if the budget is full, owner_budget_largest() returns the owner
 * that loses objects, the largest cgroup of the largest user. If many objects are evicted at once,
 * owner_budget_divide() says how much each owner keeps.
 *
 * For objects of which only some can be evicted: owner_budget_charge() as for others, and
 * owner_budget_lender() returns the owner that gives way when another one has no room.
 *
 * For other objects: owner_budget_charge() allows a user OWNER_BUDGET_SHARE times the free amount,
 * and a cgroup the same within its user. So a lone owner gets 69% of the budget, the next owner, of
 * another user, 21%, and some room is left for a third.
 *
 * The cgroups of root are users of their own, since a container's root may be root. A user's
 * cgroups beyond OWNER_CGROUPS_MAX count as one owner, and so do users beyond OWNER_USERS_MAX.
 * With a share of 7, these parts are 86% and 12%; with 15, 93% and 6%.
 * Deterministic; single-threaded.
 */
#ifndef JITBPF_BASE_OWNER_BUDGET_H
#define JITBPF_BASE_OWNER_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

#define OWNER_BUDGET_SHARE     3
#define OWNER_BUDGET_UNLIMITED (UINT64_MAX / 8) /* sums of shares do not overflow */
#define OWNER_CGROUPS_MAX      64
#define OWNER_USERS_MAX	       1024

#define OWNER_UNKNOWN_UID  UINT32_MAX /* all processes without a known owner are one owner */
#define OWNER_OTHER_CGROUP UINT64_MAX /* the cgroups beyond OWNER_CGROUPS_MAX */

struct owner_key {
	uint32_t uid;
	uint64_t cgroup;
};

struct budget_user {
	struct owner_key key; /* without a cgroup, except for root */
	uint64_t used;
	uint64_t kept; /* set by owner_budget_divide() */
	uint32_t owners;
};

struct budget_owner {
	struct owner_key key;
	struct budget_user *user;
	uint64_t used;
	uint64_t kept;		 /* set by owner_budget_divide() */
	uint64_t refused;	 /* counted by the user of the budget */
	uint64_t fixed_until_ns; /* set by the user of the budget: nothing can be evicted till then
				  */
	uint32_t refs;
};

/* With a limit, and otherwise zero-initialized, the budget is empty. */
struct owner_budget {
	uint64_t limit;
	uint64_t used;
	uint32_t share; /* in place of OWNER_BUDGET_SHARE; 0: that */
	/* What its user takes beside each amount, as a multiple of it: charged out of the limit. */
	uint32_t beside;
	/* See owner_budget_join(). */
	const struct owner_budget *other; /* borrowed; NULL: none */
	uint64_t joint_limit;
	VEC(struct budget_owner *) owners;
	VEC(struct budget_user *) users;
};

/*
 * Join two budgets: each may use what the other does not. Their shares are of what is free in both
 * together, so there is no other reserve for those who come later.
 */
void owner_budget_join(struct owner_budget *a, struct owner_budget *b, uint64_t limit);

/* Returns what a budget takes of a limit: its amounts, and what is taken beside them. */
static inline uint64_t owner_budget_taken(const struct owner_budget *budget)
{
	return budget->used * (1 + (uint64_t)budget->beside);
}

/* Find or add an owner. Returns 0 with a reference in *ret, or -ENOMEM. */
int owner_budget_get(struct owner_budget *budget, struct owner_key key, struct budget_owner **ret);

/* Drop a reference. An owner without references is freed, unless something was refused. */
void owner_budget_put(struct owner_budget *budget, struct budget_owner *owner);

/* Returns true if owner_budget_charge() would accept an amount. */
bool owner_budget_allows(const struct owner_budget *budget, const struct budget_owner *owner,
			 uint64_t amount);

/* Charge an amount that cannot be evicted. Returns 0 or -EDQUOT. */
int owner_budget_charge(struct owner_budget *budget, struct budget_owner *owner, uint64_t amount);

/* Charge an amount without a check: the caller evicts while the budget is over its limit. */
void owner_budget_add(struct owner_budget *budget, struct budget_owner *owner, uint64_t amount);

/* Release an amount that was charged. */
void owner_budget_release(struct owner_budget *budget, struct budget_owner *owner, uint64_t amount);

/* Move a charge from one owner to another. */
void owner_budget_move(struct owner_budget *budget, struct budget_owner *from,
		       struct budget_owner *to, uint64_t amount);

/* Returns true if the budget has room for an amount, whoever the owner is. */
static inline bool owner_budget_has_room(const struct owner_budget *budget, uint64_t amount)
{
	return amount <= budget->limit && budget->used <= budget->limit - amount;
}

/*
 * Returns the owner that must lose objects so that `wants` gets an amount: the largest cgroup of
 * the largest user, as if the amount were charged to `wants` already. Among equals, `wants` is
 * returned.
 */
struct budget_owner *owner_budget_largest(const struct owner_budget *budget,
					  struct budget_owner *wants, uint64_t amount);

/* How much an owner has, and its user. */
struct owner_amount {
	struct owner_key key;
	uint64_t of_user, of_owner;
};

/*
 * Returns the owner that gives way to one that needs room: the largest cgroup of the largest user
 * that is not fixed at now_ns, if its user has more than the other's user; or, if the user is the
 * same, if the cgroup has more. NULL: there is none, since all have at most as much.
 */
struct budget_owner *owner_budget_lender(const struct owner_budget *budget,
					 const struct owner_amount *wants, uint64_t now_ns);

/*
 * Set `kept` of all owners to how much each may keep so that the budget is within its limit, or to
 * UINT64_MAX: all. The users with most are cut down to the same amount, and so are the cgroups of a
 * user with most.
 */
void owner_budget_divide(struct owner_budget *budget);

/* Frees all owners. The caller has dropped all references before. */
void owner_budget_deinit(struct owner_budget *budget);

#endif
