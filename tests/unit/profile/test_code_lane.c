/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <string.h>

#include "profile/code_lane.h"
#include "profile/time_slices.h"
#include "tests/unit/cases.h"

static struct code_lane lane;

static int begin(void **state)
{
	memset(&lane, 0, sizeof(lane));
	return 0;
}

static void add(uint64_t tick, struct code_lane_change change)
{
	code_lane_add(&lane, tick * TIME_SLICES_TICK_NS, &change);
}

CASE_WITH(changes_are_in_their_bins, begin, NULL)
{
	uint32_t php = code_lane_engine(&lane, 5), java = code_lane_engine(&lane, 9);

	assert_int_equal(code_lane_engine(&lane, 5), php);
	add(3, (struct code_lane_change){php, 1, 0, 0, 100});
	add(3, (struct code_lane_change){java, 2, 0, 0, 70});
	add(3, (struct code_lane_change){java, 1, 1, 70, 60});
	add(5, (struct code_lane_change){php, 0, 4, 100, 0});
	assert_int_equal(lane.bins[3].loads, 4);
	assert_int_equal(lane.bins[3].unloads, 1);
	assert_int_equal(lane.bins[3].live[php], 100);
	assert_int_equal(lane.bins[3].live[java], 60);
	assert_int_equal(lane.bins[4].version, 0);
	assert_int_equal(lane.bins[5].unloads, 4);
	assert_int_equal(lane.bins[5].live[php], 0);
	assert_int_equal(lane.bins[5].live[java], 60);
	assert_true(lane.bins[5].version > lane.bins[3].version);
}

/* The number of bins is fixed; sums are exact, and live code is that at the end of a bin. */
CASE_WITH(bins_fold, begin, NULL)
{
	uint32_t engine = code_lane_engine(&lane, 1);
	uint64_t loads = 0, last = 0;

	for (uint32_t i = 0; i < 10 * CODE_LANE_BINS; i++)
		add(i, (struct code_lane_change){engine, 1, 0, i, i + 1});
	assert_int_equal(lane.shift, 4);
	for (uint32_t i = 0; i < CODE_LANE_BINS; i++) {
		loads += lane.bins[i].loads;
		if (!lane.bins[i].version)
			continue;
		assert_int_equal(lane.bins[i].live[engine], (i + 1) << 4);
		last = lane.bins[i].live[engine];
	}
	assert_int_equal(loads, 10 * CODE_LANE_BINS);
	assert_int_equal(last, 10 * CODE_LANE_BINS);
	/* A time that cannot be, and one from before. */
	code_lane_add(&lane, UINT64_MAX, &(struct code_lane_change){engine, 1, 0, 0, 0});
	add(0, (struct code_lane_change){engine, UINT64_MAX / 2, 0, 0, 0});
	assert_int_equal(lane.bins[0].loads, UINT32_MAX);
	assert_int_equal(lane.bins[CODE_LANE_BINS - 1].loads, 1);
}

CASE_WITH(many_engines_share_the_last_place, begin, NULL)
{
	for (uint32_t i = 0; i < 20; i++) {
		uint32_t engine = code_lane_engine(&lane, 100 + i);

		assert_int_equal(engine, i < CODE_LANE_ENGINES ? i : CODE_LANE_ENGINES - 1);
		add(i, (struct code_lane_change){engine, 1, 0, 0, 10});
	}
	assert_int_equal(lane.engine_count, CODE_LANE_ENGINES);
	assert_int_equal(lane.engines[CODE_LANE_ENGINES - 1], 0);
	assert_int_equal(lane.live[CODE_LANE_ENGINES - 1], 130);
	assert_int_equal(code_lane_engine(&lane, 103), 3);
}
