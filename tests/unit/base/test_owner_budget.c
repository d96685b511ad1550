/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "base/owner_budget.h"
#include "base/scope.h"
#include "tests/unit/cases.h"

static struct budget_owner *get(struct owner_budget *budget, uint32_t uid, uint64_t cgroup)
{
	struct budget_owner *owner;

	assert_int_equal(owner_budget_get(budget, (struct owner_key){uid, cgroup}, &owner), 0);
	return owner;
}

/* Charge in small steps until the budget refuses. Returns the sum. */
static uint64_t charge_all(struct owner_budget *budget, struct budget_owner *owner)
{
	uint64_t sum = 0;

	while (!owner_budget_charge(budget, owner, 100))
		sum += 100;
	return sum;
}

static void release_all(struct owner_budget *budget, struct budget_owner *owner)
{
	owner_budget_release(budget, owner, owner->used);
	owner_budget_put(budget, owner);
}

CASE(test_same_key_is_same_owner)
{
	struct owner_budget budget = {.limit = 10};
	struct budget_owner *a = get(&budget, 1000, 5), *b = get(&budget, 1000, 5);
	struct budget_owner *c = get(&budget, 1000, 6), *d = get(&budget, 1001, 5);

	assert_ptr_equal(a, b);
	assert_ptr_not_equal(a, c);
	assert_ptr_equal(a->user, c->user);
	assert_ptr_not_equal(a->user, d->user);
	assert_ptr_not_equal(get(&budget, 0, 5)->user, get(&budget, 0, 6)->user);
	assert_int_equal(budget.owners.size, 5);
	owner_budget_put(&budget, a);
	owner_budget_put(&budget, b);
	owner_budget_put(&budget, c);
	assert_int_equal(budget.owners.size, 3);
	assert_int_equal(budget.users.size, 3);
	owner_budget_deinit(&budget);
}

/* A lone owner gets the most of it, and each new user finds room. */
CASE(test_shares)
{
	struct owner_budget budget = {.limit = 1000000};
	struct budget_owner *first = get(&budget, 1000, 5), *second = get(&budget, 1001, 5);
	struct budget_owner *third = get(&budget, 0, 5);

	assert_in_range(charge_all(&budget, first), 680000, 700000);
	assert_in_range(charge_all(&budget, second), 205000, 220000);
	assert_in_range(charge_all(&budget, third), 60000, 70000);
	assert_true(budget.used < budget.limit);
	/* What the first one releases, the others may use. */
	release_all(&budget, first);
	assert_true(charge_all(&budget, third) > 200000);
	release_all(&budget, second);
	release_all(&budget, third);
	assert_int_equal(budget.used, 0);
	owner_budget_deinit(&budget);
}

/* Each of two budgets may use what the other does not, and others always find room. */
CASE(test_joined)
{
	struct owner_budget a = {0}, b = {0};
	struct budget_owner *first = get(&a, 1000, 5), *second = get(&a, 1001, 5);
	struct budget_owner *other = get(&b, 1000, 5);

	owner_budget_join(&a, &b, 1000000);
	a.share = 15;
	b.share = 7;
	assert_in_range(charge_all(&a, first), 930000, 937500);
	assert_in_range(charge_all(&a, second), 58000, 62000);
	assert_in_range(charge_all(&b, other), 3000, 4400);
	assert_true(a.used + b.used <= 1000000);
	release_all(&a, first);
	assert_in_range(charge_all(&b, other), 800000, 815000);
	assert_false(owner_budget_allows(&a, second, 200000));
	release_all(&a, second);
	release_all(&b, other);
	assert_int_equal(a.used + b.used, 0);
	owner_budget_deinit(&a);
	owner_budget_deinit(&b);
}

/* What is taken beside each amount is part of the limit, and of what both have together. */
CASE(test_beside)
{
	struct owner_budget a = {.limit = 1000000, .beside = 1}, b = {0};
	struct budget_owner *first = get(&a, 1000, 5), *other;

	assert_in_range(charge_all(&a, first), 340000, 350000);
	assert_int_equal(owner_budget_taken(&a), 2 * a.used);
	owner_budget_release(&a, first, first->used);

	other = get(&b, 1000, 5);
	owner_budget_join(&a, &b, 1000000);
	assert_in_range(charge_all(&a, first), 340000, 350000);
	assert_true(charge_all(&b, other) <= 250000);
	release_all(&a, first);
	charge_all(&b, other);
	assert_in_range(b.used, 680000, 700000);
	assert_true(charge_all(&a, get(&a, 1001, 5)) <= 125000);
	release_all(&b, other);
	owner_budget_release(&a, a.owners.data[0], a.used);
	owner_budget_deinit(&a);
	owner_budget_deinit(&b);
}

/* A user with many cgroups gets no more than its share; the cgroups of root are users. */
CASE(test_cgroups_share_their_user)
{
	struct owner_budget budget = {.limit = 1000000};
	uint64_t sum = 0;

	for (uint64_t cgroup = 1; cgroup <= 200; cgroup++)
		sum += charge_all(&budget, get(&budget, 1000, cgroup));
	assert_in_range(sum, 700000, 751000);
	assert_int_equal(budget.users.size, 1);
	assert_int_equal(budget.owners.size, OWNER_CGROUPS_MAX + 1);
	assert_true(charge_all(&budget, get(&budget, 1001, 1)) > 150000);
	assert_true(charge_all(&budget, get(&budget, 0, 1)) > 40000);
	assert_true(charge_all(&budget, get(&budget, 0, 2)) > 10000);
	owner_budget_deinit(&budget);
}

CASE(test_too_large_amounts)
{
	struct owner_budget budget = {.limit = 1000};
	struct budget_owner *owner = get(&budget, 1000, 5);

	assert_int_equal(owner_budget_charge(&budget, owner, 1001), -EDQUOT);
	assert_int_equal(owner_budget_charge(&budget, owner, UINT64_MAX), -EDQUOT);
	assert_int_equal(owner_budget_charge(&budget, owner, UINT64_MAX / 3), -EDQUOT);
	assert_int_equal(owner_budget_charge(&budget, owner, 800), -EDQUOT);
	assert_int_equal(owner_budget_charge(&budget, owner, 600), 0);
	owner->refused++;
	/* An owner that was refused something stays, so that a report can name it. */
	release_all(&budget, owner);
	assert_int_equal(budget.owners.size, 1);
	owner_budget_deinit(&budget);
}

CASE(test_over_the_limit)
{
	struct owner_budget budget = {.limit = 1000};
	struct budget_owner *owner = get(&budget, 1000, 5), *other = get(&budget, 1001, 5);

	owner_budget_add(&budget, owner, 1500);
	assert_false(owner_budget_has_room(&budget, 0));
	assert_int_equal(owner_budget_charge(&budget, other, 1), -EDQUOT);
	owner_budget_release(&budget, owner, 1000);
	assert_true(owner_budget_has_room(&budget, 500));
	assert_false(owner_budget_has_room(&budget, 501));
	assert_int_equal(owner_budget_charge(&budget, other, 1), 0);
	owner_budget_move(&budget, owner, other, 500);
	assert_int_equal(owner->used, 0);
	assert_int_equal(other->user->used, 501);
	owner_budget_deinit(&budget);
}

CASE(test_largest_gives_way)
{
	struct owner_budget budget = {.limit = 100};
	struct budget_owner *a = get(&budget, 1000, 1), *b = get(&budget, 1000, 2);
	struct budget_owner *c = get(&budget, 1001, 1), *root = get(&budget, 0, 1);

	assert_ptr_equal(owner_budget_largest(&budget, c, 1), c);
	owner_budget_add(&budget, a, 30);
	owner_budget_add(&budget, b, 20);
	owner_budget_add(&budget, c, 40);
	/* The user with two cgroups uses more than the other; its larger cgroup gives way. */
	assert_ptr_equal(owner_budget_largest(&budget, root, 10), a);
	assert_ptr_equal(owner_budget_largest(&budget, c, 9), a);
	assert_ptr_equal(owner_budget_largest(&budget, c, 10), c);
	assert_ptr_equal(owner_budget_largest(&budget, b, 9), a);
	assert_ptr_equal(owner_budget_largest(&budget, b, 10), b);
	owner_budget_deinit(&budget);
}

CASE(test_many_users)
{
	struct owner_budget budget = {.limit = 100};
	struct budget_owner *owner = NULL;

	for (uint32_t uid = 1; uid <= OWNER_USERS_MAX + 10; uid++)
		owner = get(&budget, uid, 1);
	assert_true(owner->key.uid == OWNER_UNKNOWN_UID);
	assert_true(budget.users.size <= OWNER_USERS_MAX + 1);
	owner_budget_deinit(&budget);
}

/* Evict everybody's excess. Returns what the budget has then. */
static uint64_t cut(struct owner_budget *budget)
{
	owner_budget_divide(budget);
	vec_for_each (owner, &budget->owners) {
		if ((*owner)->used > (*owner)->kept)
			owner_budget_release(budget, *owner, (*owner)->used - (*owner)->kept);
	}
	return budget->used;
}

/* The users with most lose, down to the same amount; so do the cgroups of a user. */
CASE(test_divide)
{
	struct owner_budget budget = {.limit = 1000};
	struct budget_owner *small = get(&budget, 1000, 5), *large = get(&budget, 1001, 5);
	struct budget_owner *third = get(&budget, 1002, 5), *same_user = get(&budget, 1002, 6);

	owner_budget_add(&budget, small, 100);
	owner_budget_add(&budget, large, 900);
	assert_int_equal(cut(&budget), 1000);
	owner_budget_add(&budget, large, 5000);
	assert_int_equal(cut(&budget), 1000);
	assert_int_equal(small->used, 100);
	owner_budget_add(&budget, third, 50);
	owner_budget_add(&budget, same_user, 800);
	assert_in_range(cut(&budget), 998, 1000);
	assert_int_equal(small->used, 100);
	assert_int_equal(large->used, 450);
	assert_int_equal(third->used, 50);
	assert_int_equal(same_user->used, 400);
	budget.limit = 0;
	assert_int_equal(cut(&budget), 0);
	owner_budget_deinit(&budget);
}

static struct owner_amount amount_of(const struct budget_owner *owner, uint64_t more)
{
	return (struct owner_amount){owner->key, owner->user->used + more, owner->used + more};
}

/* Owners take and give back at random; who gives way has more than who gets it. */
CASE(test_lenders)
{
	struct owner_budget budget = {.limit = 100000};
	struct budget_owner *owners[12];
	uint64_t random = 88172645463325252ull, lent = 0;

	for (uint32_t i = 0; i < ARRAY_SIZE(owners); i++)
		owners[i] = get(&budget, i / 4 ? 1000 + i / 4 : 0, i);
	for (int step = 0; step < 20000; step++) {
		struct budget_owner *owner, *lender;
		struct owner_amount wants;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		owner = owners[(random >> 32) % ARRAY_SIZE(owners)];
		if (owner->used && !(random >> 40 & 127))
			owner_budget_release(&budget, owner, owner->used / 2);
		if (!owner_budget_charge(&budget, owner, random >> 50 & 1023))
			continue;
		wants = amount_of(owner, 300);
		lender = owner_budget_lender(&budget, &wants, (uint64_t)step);
		for (uint32_t i = 0; i < ARRAY_SIZE(owners); i++) {
			const struct budget_owner *other = owners[i];
			bool same = other->user == owner->user;

			if (!lender && other != owner && other->fixed_until_ns <= (uint64_t)step)
				assert_true(same ? other->used <= owner->used + 300
						 : other->user->used <= owner->user->used + 300);
		}
		if (!lender)
			continue;
		assert_ptr_not_equal(lender, owner);
		assert_true(lender->fixed_until_ns <= (uint64_t)step);
		if (lender->user == owner->user)
			assert_true(lender->used > owner->used + 300);
		else
			assert_true(lender->user->used > owner->user->used + 300);
		lent++;
		if (lender->used < 100 || random & 1)
			lender->fixed_until_ns = (uint64_t)step + 50;
		else
			owner_budget_release(&budget, lender, 100);
	}
	assert_in_range(lent, 1000, 20000);
	for (uint32_t i = 0; i < ARRAY_SIZE(owners); i++)
		release_all(&budget, owners[i]);
	owner_budget_deinit(&budget);
}
