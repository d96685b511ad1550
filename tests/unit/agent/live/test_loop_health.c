/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/live/loop_health.h"
#include "tests/unit/cases.h"

CASE(test_pauses)
{
	struct loop_health health = {0};

	loop_health_end(&health, 5000); /* no turn has begun */
	assert_int_equal(health.longest_ns, 0);
	loop_health_begin(&health, 1000);
	loop_health_end(&health, 1000 + LOOP_PAUSE_NS);
	assert_int_equal(health.longest_ns, LOOP_PAUSE_NS);
	assert_int_equal(health.pauses, 0);
	loop_health_begin(&health, 2000);
	loop_health_end(&health, 2001 + LOOP_PAUSE_NS);
	assert_int_equal(health.longest_ns, LOOP_PAUSE_NS + 1);
	assert_int_equal(health.pauses, 1);
}

CASE(test_recent)
{
	struct loop_health health = {0};

	loop_health_begin(&health, 10);
	loop_health_end(&health, 30);
	loop_health_begin(&health, 40);
	loop_health_end(&health, 50);
	assert_int_equal(loop_health_take_recent(&health), 20);
	assert_int_equal(loop_health_take_recent(&health), 0);
	loop_health_begin(&health, 60);
	loop_health_end(&health, 61);
	assert_int_equal(loop_health_take_recent(&health), 1);
	assert_int_equal(health.longest_ns, 20);
}
