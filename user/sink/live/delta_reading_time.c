/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a delta has by time. */
#include <stdlib.h>
#include <string.h>

#include "base/zigzag.h"
#include "sink/live/delta_reading.h"

static void take_levels(struct delta_reading *r)
{
	uint64_t count = delta_take(r);
	uint32_t ends[TIME_SLICES_LEVELS];
	int err;

	if (r->error || !count)
		return;
	if (count != TIME_SLICES_LEVELS) {
		delta_fail(r, -EBADMSG);
		return;
	}
	for (uint32_t i = 0; i < TIME_SLICES_LEVELS; i++)
		ends[i] = delta_take_u32(r);
	err = r->error ?: time_slices_follow(&r->to->slices, ends);
	delta_fail(r, err == -EINVAL ? -EBADMSG : err);
}

static uint32_t take_distance(struct delta_reading *r, uint32_t from)
{
	uint64_t distance = delta_take(r);

	if (distance > UINT32_MAX)
		delta_fail(r, -EBADMSG);
	return from + (uint32_t)unzigzag(distance);
}

void delta_take_slices(struct delta_reading *r)
{
	struct delta_samples *to = r->to;
	struct time_slice slice = {0};
	uint64_t again = delta_take_below(r, 2), count;

	if (again)
		to->slices.slices.size = 0;
	take_levels(r);
	count = delta_take(r);
	for (uint64_t i = 0; i < count && !r->error; i++) {
		slice.tick = take_distance(r, slice.tick);
		slice.count = take_distance(r, slice.count);
		slice.samples = delta_take_u32(r);
		if (slice.count >= to->threads.counts.size || !slice.samples)
			delta_fail(r, -EBADMSG);
		if (to->slices.slices.size >= to->sliced_max) {
			delta_charge(r, sizeof(slice));
			to->sliced_max++;
		}
		if (!r->error && vec_push(&to->slices.slices, slice))
			delta_fail(r, -ENOMEM);
	}
}

static struct code_lane *lane_of(struct delta_reading *r)
{
	struct delta_profile *p = r->profile;

	if (!p->lane) {
		delta_charge(r, sizeof(*p->lane));
		p->lane = r->error ? NULL : calloc(1, sizeof(*p->lane));
		if (!p->lane)
			delta_fail(r, -ENOMEM);
		p->view.lane = p->lane;
	}
	return p->lane;
}

static struct code_bin take_bin(struct delta_reading *r, const struct code_lane *lane)
{
	struct code_bin bin = {.version = 1};

	bin.loads = delta_take_u32(r);
	bin.unloads = delta_take_u32(r);
	for (uint32_t i = 0; i < lane->engine_count; i++)
		bin.live[i] = delta_take(r);
	return bin;
}

void delta_take_code(struct delta_reading *r)
{
	uint32_t shift = delta_take_below(r, 33), bin = 0;
	struct code_lane *lane = shift && !r->error ? lane_of(r) : NULL;
	uint64_t count;

	if (!lane)
		return;
	if (lane->shift != shift - 1)
		memset(lane->bins, 0, sizeof(lane->bins));
	lane->shift = shift - 1;
	lane->engine_count = delta_take_below(r, CODE_LANE_ENGINES + 1);
	for (uint32_t i = 0; i < lane->engine_count; i++)
		lane->engines[i] = delta_take_string_number(r);
	count = delta_take(r);
	for (uint64_t i = 0; i < count && !r->error; i++) {
		bin += delta_take_below(r, CODE_LANE_BINS - bin);
		lane->bins[bin] = take_bin(r, lane);
	}
}
