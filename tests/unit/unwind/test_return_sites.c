/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <errno.h>

#include "tests/unit/cases.h"
#include "unwind/return_sites.h"

static struct return_sites sites;

static int setup(void **state)
{
	sites = (struct return_sites){0};
	return 0;
}

CASE_WITH(test_answers, setup, NULL)
{
	assert_int_equal(return_sites_find(&sites, 3, 0x100), RETURN_SITE_NEW);
	return_sites_asked(&sites, 3, 0x100);
	assert_int_equal(return_sites_find(&sites, 3, 0x100), RETURN_SITE_WAITS);
	return_sites_take(&sites, 3, 0x100, 0, true);
	assert_int_equal(return_sites_find(&sites, 3, 0x100), RETURN_SITE_CAN);
	return_sites_asked(&sites, 4, 0x100);
	return_sites_take(&sites, 4, 0x100, 0, false);
	assert_int_equal(return_sites_find(&sites, 4, 0x100), RETURN_SITE_CAN_NOT);
}

CASE_WITH(test_errors, setup, NULL)
{
	return_sites_asked(&sites, 3, 0x100);
	return_sites_take(&sites, 3, 0x100, -EIO, true);
	assert_int_equal(return_sites_find(&sites, 3, 0x100), RETURN_SITE_CAN_NOT);
	/* A busy machine is no answer. */
	return_sites_asked(&sites, 3, 0x100);
	return_sites_take(&sites, 3, 0x100, -ETIMEDOUT, false);
	assert_int_equal(return_sites_find(&sites, 3, 0x100), RETURN_SITE_NEW);
}

/* Places share slots: an answer is found or forgotten, but never that of another place. */
CASE_WITH(test_more_places_than_slots, setup, NULL)
{
	uint32_t known = 0;

	for (uint64_t i = 0; i < 4 * RETURN_SITES_MAX; i++) {
		if (return_sites_find(&sites, 3, i) != RETURN_SITE_NEW)
			fail();
		return_sites_asked(&sites, 3, i);
		return_sites_take(&sites, 3, i, 0, i % 3);
	}
	for (uint64_t i = 0; i < 4 * RETURN_SITES_MAX; i++) {
		enum return_site_state is = return_sites_find(&sites, 3, i);

		if (is == RETURN_SITE_NEW)
			continue;
		assert_int_equal(is, i % 3 ? RETURN_SITE_CAN : RETURN_SITE_CAN_NOT);
		known++;
	}
	assert_in_range(known, RETURN_SITES_MAX / 2, RETURN_SITES_MAX);
}

/* The place that waits keeps the slot, and others wait for it. */
CASE_WITH(test_slot_that_waits, setup, NULL)
{
	uint64_t other = 1;

	return_sites_asked(&sites, 3, 0);
	while (return_sites_find(&sites, 3, other) != RETURN_SITE_WAITS)
		other++;
	return_sites_take(&sites, 3, other, 0, true); /* of a request before */
	assert_int_equal(return_sites_find(&sites, 3, 0), RETURN_SITE_WAITS);
	return_sites_take(&sites, 3, 0, 0, true);
	assert_int_equal(return_sites_find(&sites, 3, other), RETURN_SITE_NEW);
	assert_int_equal(return_sites_find(&sites, 3, 0), RETURN_SITE_CAN);
}
