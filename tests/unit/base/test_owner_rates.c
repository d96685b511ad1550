/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "base/owner_rates.h"
#include "tests/unit/cases.h"

#define SECOND_NS  1000000000ull
#define MOST	   4096
#define PER_SECOND 500

static unsigned takes(struct owner_rates *rates, uint32_t uid, uint64_t cgroup, uint64_t now_ns)
{
	unsigned count = 0;

	while (owner_rates_take(rates, (struct owner_key){uid, cgroup}, 1, now_ns))
		count++;
	return count;
}

/* An owner gets much at once, and then a share of the time; other owners are not affected. */
CASE(test_limits)
{
	struct owner_rates rates = {.most = MOST, .per_second = PER_SECOND};
	unsigned steps = 0;

	assert_int_equal(takes(&rates, 1000, 1, SECOND_NS), MOST);
	assert_int_equal(takes(&rates, 1000, 2, SECOND_NS), 0);
	assert_int_equal(takes(&rates, 0, 1, SECOND_NS), MOST);
	assert_int_equal(takes(&rates, 0, 2, SECOND_NS), MOST);
	assert_int_equal(takes(&rates, 1000, 1, 2 * SECOND_NS), PER_SECOND);
	assert_int_equal(takes(&rates, 1000, 1, SECOND_NS), 0); /* the clock of another CPU */
	for (uint64_t time_ns = 2 * SECOND_NS; time_ns <= 3 * SECOND_NS; time_ns += 1000003)
		steps += takes(&rates, 1000, 1, time_ns);
	assert_in_range(steps, PER_SECOND - 1, PER_SECOND);
	assert_int_equal(takes(&rates, 1000, 1, 1000 * SECOND_NS), MOST);
	owner_rates_deinit(&rates);
}

CASE(test_amounts)
{
	struct owner_rates rates = {.most = 1ull << 32, .per_second = 64 << 20};
	const struct owner_key owner = {1000, 0};

	assert_false(owner_rates_take(&rates, owner, rates.most + 1, SECOND_NS));
	assert_true(owner_rates_take(&rates, owner, rates.most, SECOND_NS));
	assert_false(owner_rates_take(&rates, owner, 1, SECOND_NS));
	assert_false(owner_rates_take(&rates, owner, 129 << 20, 3 * SECOND_NS));
	assert_true(owner_rates_take(&rates, owner, 128 << 20, 3 * SECOND_NS));
	assert_true(owner_rates_take(&rates, owner, rates.most, UINT64_MAX));
	owner_rates_deinit(&rates);
}

CASE(test_many_owners)
{
	struct owner_rates rates = {.most = MOST, .per_second = PER_SECOND};

	for (uint32_t uid = 1; uid <= OWNER_USERS_MAX; uid++)
		assert_true(owner_rates_take(&rates, (struct owner_key){uid, 0}, 1, SECOND_NS));
	assert_int_equal(takes(&rates, 1000000, 0, SECOND_NS), MOST - 1);
	assert_int_equal(takes(&rates, 1000001, 0, SECOND_NS), 0);
	assert_int_equal(rates.owners.size, OWNER_USERS_MAX);
	owner_rates_deinit(&rates);
}
