/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/code_lane.h"

#include <string.h>

#include "profile/time_slices.h"

static uint32_t add_up(uint64_t a, uint64_t b)
{
	return a + b < UINT32_MAX ? (uint32_t)(a + b) : UINT32_MAX;
}

/* Two bins become one, with the live code of the later one. */
static void fold(struct code_lane *lane)
{
	for (uint32_t i = 0; i < CODE_LANE_BINS / 2; i++) {
		const struct code_bin *a = &lane->bins[2 * i], *b = a + 1;
		struct code_bin bin = b->version ? *b : *a;

		bin.loads = add_up(a->loads, b->loads);
		bin.unloads = add_up(a->unloads, b->unloads);
		bin.version = bin.version ? lane->version : 0;
		lane->bins[i] = bin;
	}
	memset(lane->bins + CODE_LANE_BINS / 2, 0, sizeof(lane->bins) / 2);
	lane->shift++;
}

uint32_t code_lane_engine(struct code_lane *lane, uint32_t name)
{
	uint32_t i = 0;

	while (i < lane->engine_count && i < CODE_LANE_ENGINES - 1 && lane->engines[i] != name)
		i++;
	if (i == lane->engine_count) {
		lane->engines[i] = i < CODE_LANE_ENGINES - 1 ? name : 0;
		lane->engine_count++;
	}
	return i;
}

void code_lane_add(struct code_lane *lane, uint64_t since_ns, const struct code_lane_change *change)
{
	uint64_t tick = since_ns / TIME_SLICES_TICK_NS, *live = &lane->live[change->engine];
	struct code_bin *bin;

	tick = tick < UINT32_MAX ? tick : UINT32_MAX;
	lane->version++;
	while (tick >> lane->shift >= CODE_LANE_BINS)
		fold(lane);
	bin = &lane->bins[tick >> lane->shift];
	*live += change->bytes - change->bytes_before;
	bin->loads = add_up(bin->loads, change->loads);
	bin->unloads = add_up(bin->unloads, change->unloads);
	bin->version = lane->version;
	memcpy(bin->live, lane->live, sizeof(bin->live));
}
