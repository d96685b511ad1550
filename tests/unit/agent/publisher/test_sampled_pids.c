/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/sampled_pids.h"
#include "tests/unit/cases.h"

CASE(test_samples_of_an_open_round_belong_to_the_next)
{
	struct sampled_pids sampled = {0};

	assert_false(sampled_pids_has(&sampled, 7));
	assert_int_equal(sampled_pids_add(&sampled, 9), 0);
	assert_int_equal(sampled_pids_add(&sampled, 7), 0);
	assert_int_equal(sampled_pids_add(&sampled, 7), 0);
	assert_int_equal(sampled.pids.size, 2);
	assert_false(sampled_pids_has(&sampled, 7)); /* no round has begun */

	sampled_pids_begin(&sampled);
	/* Like the last pid of the round, which sorting moves. */
	assert_int_equal(sampled_pids_add(&sampled, 7), 0);
	assert_int_equal(sampled_pids_add(&sampled, 8), 0);
	assert_true(sampled_pids_has(&sampled, 7));
	assert_true(sampled_pids_has(&sampled, 9));
	assert_false(sampled_pids_has(&sampled, 8));
	sampled_pids_end(&sampled);
	assert_false(sampled_pids_has(&sampled, 9));

	sampled_pids_begin(&sampled);
	assert_true(sampled_pids_has(&sampled, 8));
	assert_true(sampled_pids_has(&sampled, 7));
	assert_false(sampled_pids_has(&sampled, 9));
	sampled_pids_end(&sampled);
	assert_int_equal(sampled.pids.size, 0);
	sampled_pids_deinit(&sampled);
}
