/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Gaps: events that are missing for good may have ended any code that is not confirmed as live. */
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

static bool is_about(const struct code_gap *gap, const struct code_origin *origin)
{
	return gap->publisher == origin->publisher &&
	       (!gap->engine || code_engine_same_process(gap->engine, origin->engine));
}

bool code_gap_ends(const struct code_gap *gap, const struct code_origin *origin)
{
	return is_about(gap, origin) && !lives(gap, origin->sequence);
}

/* A late record can bring an event from before the gap. A lost event may have ended its code. */
bool code_map_is_in_gap(const struct code_map *map, const struct code_origin *origin,
			uint64_t time_ns)
{
	vec_for_each (gap, &map->gaps) {
		if (time_ns <= gap->to_ns && code_gap_ends(gap, origin))
			return true;
	}
	return false;
}

bool code_map_lacks_parents(const struct code_map *map, const struct code_origin *origin)
{
	vec_for_each (gap, &map->gaps) {
		if (!gap->live_count && is_about(gap, origin))
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
			free((uint64_t *)gap->live);
	}
	map->gaps.size = kept;
}

/* State of a pass over the regions of a map for a gap. */
struct sifting {
	struct code_map *map;
	const struct code_gap *gap;
	VEC(struct space_entry) thinned; /* regions in which an inlined method ended */
};

static bool all_live(const struct code_gap *gap, const struct code_inline *inlined)
{
	for (; inlined; inlined = inlined->parent) {
		if (code_gap_ends(gap, &inlined->origin))
			return false;
	}
	return true;
}

static int find_dead(void *context, const struct cow_item *item)
{
	return !all_live(context, (const struct code_inline *)item->value);
}

/* An inherited claim has a sequence number of the parent, and gap->live has none of these. */
static bool claim_lives(const struct sifting *sifting, const struct code_region *region,
			const struct code_claim *claim)
{
	return region->number >= sifting->map->first_number && !claim->inherited &&
	       lives(sifting->gap, claim->origin.sequence);
}

static int sift(void *context, const struct space_entry *entry)
{
	struct sifting *sifting = context;
	const struct code_region *region = &code_record_of(entry->value)->region;
	const struct code_claim *claim = code_region_claim(region, sifting->gap->publisher);

	if (entry->from_ns > sifting->gap->from_ns || !claim ||
	    !is_about(sifting->gap, &claim->origin))
		return 0;
	if (!claim_lives(sifting, region, claim))
		return vec_push(&sifting->map->hit,
				((struct space_key){entry->start, entry->value}));
	if (region->layout &&
	    cow_tree_for_each(&region->layout->inlines, find_dead, (void *)sifting->gap))
		return vec_push(&sifting->thinned, *entry);
	return 0;
}

/* Remove ended methods from the layout of a version that is not entered yet. */
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

static int thin_region(struct code_map *map, struct code_account *account,
		       const struct space_entry *entry, const struct code_gap *gap)
{
	struct code_change change;
	size_t ended;
	int err = code_change_begin(map, account, entry, gap->from_ns, true, &change);

	if (err == -EDQUOT) {
		code_account_count_refused(account);
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

/* End the regions and inlined methods that are not live. */
static int apply_gap(struct code_map *map, struct code_account *account, const struct code_gap *gap)
{
	struct sifting sifting = {.map = map, .gap = gap};
	size_t ended;
	int err;

	map->hit.size = 0;
	err = space_map_for_each(map->space, sift, &sifting);
	err = err ?: code_map_end_gathered(map, gap->from_ns, &ended);
	for (size_t i = 0; !err && i < sifting.thinned.size; i++)
		err = thin_region(map, account, &sifting.thinned.data[i], gap);
	vec_deinit(&sifting.thinned);
	return err ?: code_map_sift_registered(map, gap);
}

int code_map_gap(struct code_map *map, struct code_account *account, const struct code_gap *gap)
{
	struct code_gap copy = *gap;
	uint64_t *live = NULL;
	int err = vec_reserve(&map->gaps, map->gaps.size + 1);

	if (err)
		return err;
	if (gap->live_count) {
		live = calloc(gap->live_count, sizeof(*live));
		if (!live)
			return -ENOMEM;
		memcpy(live, gap->live, gap->live_count * sizeof(*live));
	}
	copy.live = live;
	err = apply_gap(map, account, &copy);
	if (err) {
		free(live);
		return err;
	}
	code_map_sift_waiting(map, &copy);
	map->gaps.data[map->gaps.size++] = copy;
	return 0;
}
