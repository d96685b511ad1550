/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A code map that several processes report to. */
#include "state/code/code_map_state.h"

/* Let what is done to a map go to the account of another, and that back again. */
static void swap_accounts(struct code_map *a, struct code_map *b)
{
	struct code_counts counts = a->counts;
	struct code_usage *usage = a->usage;

	a->counts = b->counts;
	a->usage = b->usage;
	b->counts = counts;
	b->usage = usage;
}

int code_map_apply_for(struct code_map *map, struct code_map *own, const struct jit_event *event,
		       uint64_t engine, uint64_t time_ns)
{
	int err;

	swap_accounts(map, own);
	err = code_map_apply(map, event, engine, time_ns);
	swap_accounts(map, own);
	return err;
}

int code_map_gap_for(struct code_map *map, struct code_map *own, uint64_t engine, uint64_t from_ns,
		     uint64_t to_ns, const uint64_t *live, size_t live_count)
{
	int err;

	swap_accounts(map, own);
	err = code_map_gap_of(map, engine, from_ns, to_ns, live, live_count);
	swap_accounts(map, own);
	return err;
}

bool code_map_has_others(const struct code_map *map, uint64_t start, uint64_t end, uint64_t engine)
{
	struct space_entry entry;

	for (uint64_t at = start;
	     at < end && space_map_next(map->space, at, &entry) && entry.start < end;
	     at = entry.end) {
		const struct code_region *region = &code_record_of(entry.value)->region;

		if (!code_engine_same_process(region->engine, engine))
			return true;
	}
	return false;
}
