/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events that are missing for good: what they may have ended is not to be believed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"

#include "state/code/code_map_state.h"

static bool lives(const struct code_gap *gap, uint64_t sequence)
{
	size_t at = partition_point(0, gap->live_count, i, gap->live[i] < sequence);

	return at < gap->live_count && gap->live[at] == sequence;
}

static bool is_about(const struct code_gap *gap, uint64_t engine)
{
	return !gap->engine || code_engine_same_process(gap->engine, engine);
}

bool code_gap_ends(const struct code_gap *gap, uint64_t engine, uint64_t sequence)
{
	return is_about(gap, engine) && !lives(gap, sequence);
}

bool code_map_is_in_gap(const struct code_map *map, uint64_t engine, uint64_t time_ns,
			uint64_t sequence)
{
	vec_for_each (gap, &map->gaps) {
		if (gap->from_ns <= time_ns && time_ns <= gap->to_ns &&
		    code_gap_ends(gap, engine, sequence))
			return true;
	}
	return false;
}

bool code_map_lacks_parents(const struct code_map *map, uint64_t engine)
{
	vec_for_each (gap, &map->gaps) {
		if (!gap->live_count && is_about(gap, engine))
			return true;
	}
	return false;
}

void code_map_forget_gaps(struct code_map *map, uint64_t time_ns)
{
	size_t kept = 0;

	vec_for_each (gap, &map->gaps) {
		if (time_ns != UINT64_MAX && gap->to_ns >= time_ns)
			map->gaps.data[kept++] = *gap;
		else
			free(gap->live);
	}
	map->gaps.size = kept;
}

/* The regions of a map in the light of a gap. */
struct sifting {
	struct code_map *map;
	const struct code_gap *gap;
	VEC(struct space_entry) thinned; /* those of which something that is inlined ended */
};

static bool all_live(const struct code_gap *gap, const struct code_inline *inlined)
{
	for (; inlined; inlined = inlined->parent) {
		if (!lives(gap, inlined->sequence))
			return false;
	}
	return true;
}

static int find_dead(void *context, const struct cow_item *item)
{
	return !all_live(context, (const struct code_inline *)item->value);
}

/* The sequence number of what a fork inherited is its parent's, and says nothing here. */
static bool region_lives(const struct sifting *sifting, const struct code_record *record)
{
	return record->origin > sifting->map->first_number &&
	       lives(sifting->gap, record->region.sequence);
}

static int sift(void *context, const struct space_entry *entry)
{
	struct sifting *sifting = context;
	const struct code_record *record = code_record_of(entry->value);
	const struct code_region *region = &record->region;

	if (entry->from_ns > sifting->gap->from_ns || !is_about(sifting->gap, region->engine))
		return 0;
	if (!region_lives(sifting, record))
		return vec_push(&sifting->map->hit,
				((struct space_key){entry->start, entry->value}));
	if (region->layout &&
	    cow_tree_for_each(&region->layout->inlines, find_dead, (void *)sifting->gap))
		return vec_push(&sifting->thinned, *entry);
	return 0;
}

/* Take what has ended out of the layout of a version that nobody sees yet. */
static int thin(struct cow_tree *inlines, const struct code_gap *gap)
{
	const struct cow_item *item;
	int err = 0;

	for (uint64_t at = 0; !err && (item = cow_tree_next(inlines, at));) {
		uint64_t start = item->start;

		at = item->end;
		if (all_live(gap, (const struct code_inline *)item->value))
			continue;
		err = cow_range_reserve(inlines, start, at);
		if (!err)
			cow_range_clear(inlines, start, at);
	}
	return err;
}

static int thin_region(struct code_map *map, const struct space_entry *entry,
		       const struct code_gap *gap)
{
	struct code_change change;
	size_t ended;
	int err = code_change_begin(map, entry, gap->from_ns, true, &change);

	if (err == -EDQUOT) {
		map->counts.over_budget++;
		err = code_map_gather(map, entry->start, entry->end);
		return err ?: code_map_end_gathered(map, gap->from_ns, &ended);
	}
	if (err)
		return err;
	err = thin(&change.record->region.layout->inlines, gap);
	err = err ?: code_change_enter(map, &change);
	if (err)
		code_change_cancel(&change);
	return err;
}

/* End what has ended. */
static int apply_gap(struct code_map *map, const struct code_gap *gap)
{
	struct sifting sifting = {.map = map, .gap = gap};
	size_t ended;
	int err;

	map->hit.size = 0;
	err = space_map_for_each(map->space, sift, &sifting);
	err = err ?: code_map_end_gathered(map, gap->from_ns, &ended);
	for (size_t i = 0; !err && i < sifting.thinned.size; i++)
		err = thin_region(map, &sifting.thinned.data[i], gap);
	vec_deinit(&sifting.thinned);
	return err;
}

int code_map_gap_of(struct code_map *map, uint64_t engine, uint64_t from_ns, uint64_t to_ns,
		    const uint64_t *live, size_t live_count)
{
	struct code_gap gap = {
		.from_ns = from_ns,
		.to_ns = to_ns,
		.engine = engine,
		.live_count = live_count,
	};
	int err = vec_reserve(&map->gaps, map->gaps.size + 1);

	if (err)
		return err;
	if (live_count) {
		gap.live = calloc(live_count, sizeof(*live));
		if (!gap.live)
			return -ENOMEM;
		memcpy(gap.live, live, live_count * sizeof(*live));
	}
	err = apply_gap(map, &gap);
	if (err) {
		free(gap.live);
		return err;
	}
	code_map_sift_waiting(map, &gap);
	map->gaps.data[map->gaps.size++] = gap;
	return 0;
}

int code_map_gap(struct code_map *map, uint64_t from_ns, uint64_t to_ns, const uint64_t *live,
		 size_t live_count)
{
	return code_map_gap_of(map, 0, from_ns, to_ns, live, live_count);
}
