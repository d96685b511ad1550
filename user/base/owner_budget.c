/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/owner_budget.h"

#include <errno.h>
#include <stdlib.h>

static bool is_equal(struct owner_key a, struct owner_key b)
{
	return a.uid == b.uid && a.cgroup == b.cgroup;
}

/* The cgroups of root are users of their own. */
static struct owner_key user_key_of(struct owner_key key)
{
	return (struct owner_key){.uid = key.uid, .cgroup = key.uid ? 0 : key.cgroup};
}

static struct budget_owner *find_owner(const struct owner_budget *budget, struct owner_key key)
{
	vec_for_each (owner, &budget->owners) {
		if (is_equal((*owner)->key, key))
			return *owner;
	}
	return NULL;
}

static struct budget_user *find_user(const struct owner_budget *budget, struct owner_key key)
{
	vec_for_each (user, &budget->users) {
		if (is_equal((*user)->key, key))
			return *user;
	}
	return NULL;
}

static int add_user(struct owner_budget *budget, struct owner_key key, struct budget_user **ret)
{
	struct budget_user *user = calloc(1, sizeof(*user));

	if (!user || vec_push(&budget->users, user)) {
		free(user);
		return -ENOMEM;
	}
	user->key = key;
	*ret = user;
	return 0;
}

static void remove_user(struct owner_budget *budget, struct budget_user *user)
{
	vec_for_each (at, &budget->users) {
		if (*at != user)
			continue;
		*at = budget->users.data[--budget->users.size];
		break;
	}
	free(user);
}

static int add_owner(struct owner_budget *budget, struct owner_key key, struct budget_user *user,
		     struct budget_owner **ret)
{
	struct budget_owner *owner = calloc(1, sizeof(*owner));

	if (!owner || vec_push(&budget->owners, owner)) {
		free(owner);
		return -ENOMEM;
	}
	owner->key = key;
	owner->user = user;
	user->owners++;
	*ret = owner;
	return 0;
}

static void remove_owner(struct owner_budget *budget, struct budget_owner *owner)
{
	vec_for_each (at, &budget->owners) {
		if (*at != owner)
			continue;
		*at = budget->owners.data[--budget->owners.size];
		break;
	}
	if (!--owner->user->owners)
		remove_user(budget, owner->user);
	free(owner);
}

/*
 * Find or add the user of a key. If a limit is reached, *key becomes that of the owner of all
 * others.
 */
static int get_user(struct owner_budget *budget, struct owner_key *key, struct budget_user **ret)
{
	static const struct owner_key unknown = {.uid = OWNER_UNKNOWN_UID};
	struct owner_key user_key = user_key_of(*key);
	struct budget_user *user = find_user(budget, user_key);

	if (!user && budget->users.size >= OWNER_USERS_MAX) {
		*key = user_key = unknown;
		user = find_user(budget, user_key);
	}
	if (user && user->owners >= OWNER_CGROUPS_MAX)
		key->cgroup = OWNER_OTHER_CGROUP;
	if (!user)
		return add_user(budget, user_key, ret);
	*ret = user;
	return 0;
}

int owner_budget_get(struct owner_budget *budget, struct owner_key key, struct budget_owner **ret)
{
	struct budget_owner *owner = find_owner(budget, key);
	struct budget_user *user;
	int err;

	if (!owner) {
		err = get_user(budget, &key, &user);
		if (err)
			return err;
		owner = find_owner(budget, key);
		err = owner ? 0 : add_owner(budget, key, user, &owner);
		if (err && !user->owners)
			remove_user(budget, user);
		if (err)
			return err;
	}
	owner->refs++;
	*ret = owner;
	return 0;
}

void owner_budget_put(struct owner_budget *budget, struct budget_owner *owner)
{
	if (!--owner->refs && !owner->refused)
		remove_owner(budget, owner);
}

static uint64_t free_of(uint64_t limit, uint64_t used)
{
	return used < limit ? limit - used : 0;
}

static uint64_t limit_of(const struct owner_budget *budget)
{
	uint64_t limit = budget->limit, left;

	if (budget->other) {
		left = free_of(budget->joint_limit, owner_budget_taken(budget->other));
		limit = left < limit ? left : limit;
	}
	return limit / (1 + (uint64_t)budget->beside);
}

/* Returns true if `used` plus the amount is within the share of the amount that is then free. */
static bool is_fair(uint64_t share, uint64_t used, uint64_t amount, uint64_t free)
{
	return amount <= free && used + amount <= share * (free - amount);
}

bool owner_budget_allows(const struct owner_budget *budget, const struct budget_owner *owner,
			 uint64_t amount)
{
	uint64_t share = budget->share ?: OWNER_BUDGET_SHARE;
	uint64_t free = free_of(limit_of(budget), budget->used);
	uint64_t of_user = free_of(share * free, owner->user->used);

	/*
	 * The charge reduces the user's limit by the share times the amount; is_fair() adds the
	 * amount itself.
	 */
	of_user = free_of(of_user, share * amount);
	return is_fair(share, owner->user->used, amount, free) &&
	       is_fair(share, owner->used, amount, of_user);
}

void owner_budget_join(struct owner_budget *a, struct owner_budget *b, uint64_t limit)
{
	a->other = b;
	b->other = a;
	a->joint_limit = b->joint_limit = limit;
	a->limit = b->limit = limit;
}

int owner_budget_charge(struct owner_budget *budget, struct budget_owner *owner, uint64_t amount)
{
	if (!owner_budget_allows(budget, owner, amount))
		return -EDQUOT;
	owner_budget_add(budget, owner, amount);
	return 0;
}

void owner_budget_add(struct owner_budget *budget, struct budget_owner *owner, uint64_t amount)
{
	budget->used += amount;
	owner->used += amount;
	owner->user->used += amount;
}

void owner_budget_release(struct owner_budget *budget, struct budget_owner *owner, uint64_t amount)
{
	budget->used -= amount;
	owner->used -= amount;
	owner->user->used -= amount;
}

void owner_budget_move(struct owner_budget *budget, struct budget_owner *from,
		       struct budget_owner *to, uint64_t amount)
{
	owner_budget_release(budget, from, amount);
	owner_budget_add(budget, to, amount);
}

struct budget_owner *owner_budget_largest(const struct owner_budget *budget,
					  struct budget_owner *wants, uint64_t amount)
{
	struct budget_user *user = wants->user;
	uint64_t user_used = user->used + amount, used = 0;
	struct budget_owner *largest = NULL;

	vec_for_each (at, &budget->users) {
		if ((*at)->used > user_used) {
			user = *at;
			user_used = user->used;
		}
	}
	if (user == wants->user) {
		largest = wants;
		used = wants->used + amount;
	}
	vec_for_each (at, &budget->owners) {
		if ((*at)->user == user && (*at)->used > used) {
			largest = *at;
			used = largest->used;
		}
	}
	return largest ?: wants;
}

/* Returns true if a gives way before b. */
static bool is_larger(const struct budget_owner *a, const struct budget_owner *b)
{
	if (a->user == b->user)
		return a->used > b->used;
	return a->user->used > b->user->used;
}

struct budget_owner *owner_budget_lender(const struct owner_budget *budget,
					 const struct owner_amount *wants, uint64_t now_ns)
{
	struct owner_key user_key = user_key_of(wants->key);
	struct budget_owner *lender = NULL;

	vec_for_each (at, &budget->owners) {
		const struct budget_owner *owner = *at;
		bool same_user = is_equal(owner->user->key, user_key);
		bool has_more = same_user ? owner->used > wants->of_owner
					  : owner->user->used > wants->of_user;

		if (has_more && !is_equal(owner->key, wants->key) &&
		    owner->fixed_until_ns <= now_ns && (!lender || is_larger(owner, lender)))
			lender = *at;
	}
	return lender;
}

/* The sum of the amounts up to a level, and the number of those above it. */
struct amounts {
	uint64_t level, sum, above;
};

static void add_amount(struct amounts *amounts, uint64_t amount)
{
	if (amount > amounts->level)
		amounts->above++;
	else
		amounts->sum += amount;
}

/* Amounts of the users, or, if user is not NULL, of its owners. */
static struct amounts amounts_at(const struct owner_budget *budget, const struct budget_user *user,
				 uint64_t level)
{
	struct amounts amounts = {.level = level};

	if (!user) {
		vec_for_each (at, &budget->users)
			add_amount(&amounts, (*at)->used);
		return amounts;
	}
	vec_for_each (at, &budget->owners) {
		if ((*at)->user == user)
			add_amount(&amounts, (*at)->used);
	}
	return amounts;
}

/*
 * Returns the level to which larger amounts are cut so that the sum is within a limit. It rises
 * from the level for equal amounts, by what smaller amounts leave over.
 */
static uint64_t level_within(const struct owner_budget *budget, const struct budget_user *user,
			     uint64_t limit)
{
	struct amounts amounts = amounts_at(budget, user, 0);
	uint64_t level = 0;

	while (amounts.above && (limit - amounts.sum) / amounts.above > level) {
		level = (limit - amounts.sum) / amounts.above;
		amounts = amounts_at(budget, user, level);
	}
	return amounts.above ? level : UINT64_MAX;
}

void owner_budget_divide(struct owner_budget *budget)
{
	uint64_t level = level_within(budget, NULL, budget->limit);

	vec_for_each (user, &budget->users)
		(*user)->kept =
			(*user)->used > level ? level_within(budget, *user, level) : UINT64_MAX;
	vec_for_each (owner, &budget->owners)
		(*owner)->kept = (*owner)->user->kept;
}

void owner_budget_deinit(struct owner_budget *budget)
{
	while (budget->owners.size)
		remove_owner(budget, budget->owners.data[0]);
	vec_deinit(&budget->owners);
	vec_deinit(&budget->users);
}
