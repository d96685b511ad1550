/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the place of inlined methods. Their events come in any order, so an inlined method without
 * a parent waits, by address, until a region or inlined method is entered around it. The wait has
 * no time limit, since an engine can be preempted between two events. Above the budget, the methods
 * that have waited longest are dropped.
 */
#include <errno.h>

#include "state/code/code_map_state.h"

/*
 * Tries before a waiting inlined method is dropped: one for each of its ancestors, and a few
 * for regions around it that are not its ancestors.
 */
#define TRIES_MAX     256
#define TRIES_OF_LOAD 32

_Static_assert(TRIES_MAX > CODE_LEVELS_MAX + 2 * TRIES_OF_LOAD, "the deepest find their parents");

/* The key of a waiting method: its address and a number, since several may begin at one address. */
#define WAITING_BITS	    16
#define WAITING_ADDRESS_MAX (1ull << (64 - WAITING_BITS - 1))

enum fit { FITS, NO_PARENT, OUTSIDE, OVERLAPS };

struct place {
	struct space_entry region;
	struct code_inline *parent; /* NULL: the region's own method */
};

/*
 * Returns why an inlined method that ends at offset `end` of a region does not fit at a place
 * where `at` is the innermost method. region_id is the region's method id of its publisher.
 */
static enum fit misfit(const struct code_inline *inlined, uint64_t end,
		       const struct code_region *region, uint64_t region_id,
		       const struct code_inline *at)
{
	for (; at; at = at->parent) {
		if (at->method_id == inlined->parent_id)
			return end <= at->offset + at->size_bytes ? OVERLAPS : OUTSIDE;
	}
	if (region_id != inlined->parent_id)
		return NO_PARENT;
	return end <= region->size_bytes ? OVERLAPS : OUTSIDE;
}

/* An inlined method fits if its parent is the innermost method from its start to its end. */
static enum fit find_place(const struct code_map *map, const struct code_inline *inlined,
			   uint64_t time_ns, struct place *ret)
{
	const struct code_region *region;
	const struct cow_item *item = NULL;
	const struct code_claim *claim;
	struct place place = {0};
	uint64_t start, end, limit;

	if (!space_map_next(map->space, inlined->address, &place.region) ||
	    place.region.start > inlined->address)
		return NO_PARENT;
	region = &code_record_of(place.region.value)->region;
	claim = code_claim_for(region, &inlined->origin);
	if (region->loaded_ns > time_ns || !claim)
		return NO_PARENT;
	start = inlined->address - region->address;
	end = start + inlined->size_bytes;
	limit = region->size_bytes;
	if (region->layout)
		item = cow_tree_next(&region->layout->inlines, start);
	if (item && item->start <= start) {
		place.parent = (struct code_inline *)item->value;
		limit = item->end;
	} else if (item) {
		limit = item->start;
	}
	if ((place.parent ? place.parent->method_id : claim->method_id) != inlined->parent_id ||
	    end > limit)
		return misfit(inlined, end, region, claim->method_id, place.parent);
	*ret = place;
	return FITS;
}

/* Enter an inlined method at its place. Returns 0, -EDQUOT or -ENOMEM, with nothing changed. */
static int attach(struct code_map *map, struct code_inline *inlined, const struct place *place,
		  uint64_t time_ns)
{
	uint64_t start = inlined->address - place->region.start;
	uint64_t end = start + inlined->size_bytes;
	uint32_t depth = place->parent ? place->parent->depth + 1 : 1;
	const struct code_region *region;
	enum line_offsets offsets;
	struct code_change change;
	int err;

	if (depth > inlined->account->budget.depth)
		return -EDQUOT;
	err = code_change_begin(map, inlined->account, &place->region, time_ns, false, &change);
	if (err)
		return err;
	region = &change.record->region;
	offsets = inlined->line_starts
			  ? LINE_OFFSETS_START
			  : code_line_rules_find(map->line_rules, code_region_module(region));
	err = cow_range_reserve(&region->layout->inlines, start, end);
	err = err ?: code_change_enter(map, &change);
	if (err) {
		code_change_cancel(&change);
		return err;
	}
	inlined->depth = depth;
	inlined->offset = start;
	inlined->parent = place->parent;
	if (place->parent)
		space_value_get(&place->parent->value);
	inlined->line_count = code_lines_settle(inlined->lines, inlined->line_count,
						inlined->size_bytes, offsets);
	cow_range_put(&region->layout->inlines, start, end, &inlined->value);
	return 0;
}

/*
 * Enter an inlined method, or count the reason why it has no place in its account. Returns 0; 1 if
 * the method has to wait; or -ENOMEM, with nothing changed.
 */
static int place_or_count(struct code_map *map, struct code_inline *inlined, uint64_t time_ns)
{
	struct code_counts *counts = &inlined->account->counts;
	struct place place;
	enum fit fit = find_place(map, inlined, time_ns, &place);
	int err;

	switch (fit) {
	case NO_PARENT:
		return 1;
	case OUTSIDE:
		counts->inline_outside++;
		return 0;
	case OVERLAPS:
		counts->inline_overlap++;
		return 0;
	case FITS:
		break;
	}
	err = attach(map, inlined, &place, time_ns);
	if (err == -EDQUOT)
		code_account_count_refused(inlined->account);
	else if (!err)
		counts->inlines++;
	return err == -EDQUOT ? 0 : err;
}

static uint64_t waiting_key(uint64_t address)
{
	return (address < WAITING_ADDRESS_MAX ? address : WAITING_ADDRESS_MAX) << WAITING_BITS;
}

static void stop_waiting(struct code_map *map, uint64_t key)
{
	struct cow_item item = cow_tree_remove(&map->waiting, key);
	const struct code_inline *inlined = (const struct code_inline *)item.value;

	cow_tree_remove(&map->arrivals, inlined->arrival);
	map->waiting_bytes -= code_inline_bytes(inlined);
	space_value_put(item.value);
}

/* Drop waiting methods, in order of arrival, until the budget has room for one more. */
static void make_room(struct code_map *map, const struct code_budget *budget, uint64_t bytes)
{
	while (map->waiting.size && (map->waiting.size >= budget->waiting ||
				     map->waiting_bytes + bytes > budget->waiting_bytes)) {
		uint64_t key = cow_tree_next(&map->arrivals, 0)->from_ns;
		const struct code_inline *oldest =
			(const struct code_inline *)cow_tree_next(&map->waiting, key)->value;

		oldest->account->counts.inline_no_parent--;
		oldest->account->counts.over_budget++;
		stop_waiting(map, key);
	}
}

/* A waiting method counts as inline_no_parent until it has a parent. */
static int wait_for_parent(struct code_map *map, struct code_inline *inlined, uint64_t time_ns)
{
	uint64_t key = waiting_key(inlined->address), limit = key + (1u << WAITING_BITS);
	const struct cow_item *last = cow_tree_last(&map->waiting, limit - 1);
	struct cow_item item = {.from_ns = time_ns, .value = &inlined->value};
	const struct code_budget *budget = &inlined->account->budget;
	struct code_counts *counts = &inlined->account->counts;
	uint64_t bytes = code_inline_bytes(inlined);
	struct cow_item arrival;
	int err;

	if (!inlined->parent_id || inlined->address >= WAITING_ADDRESS_MAX ||
	    code_map_lacks_parents(map, &inlined->origin)) {
		counts->inline_no_parent++;
		return 0;
	}
	item.start = last && last->start >= key ? last->start + 1 : key;
	item.end = item.start + 1;
	if (!budget->waiting || bytes > budget->waiting_bytes || item.end > limit) {
		code_account_count_refused(inlined->account);
		return 0;
	}
	err = cow_tree_reserve(&map->waiting, 0, 1);
	err = err ?: cow_tree_reserve(&map->arrivals, 0, 1);
	if (err)
		return err;
	make_room(map, budget, bytes);
	map->waiting_bytes += bytes;
	inlined->arrival = map->next_arrival++;
	arrival = (struct cow_item){
		.start = inlined->arrival, .end = map->next_arrival, .from_ns = item.start};
	space_value_get(item.value);
	cow_tree_insert(&map->waiting, &item);
	cow_tree_insert(&map->arrivals, &arrival);
	counts->inline_no_parent++;
	return 0;
}

/* Try all methods that wait in [start, end) once. Returns true if one was entered. */
static bool settle_once(struct code_map *map, uint64_t start, uint64_t end, uint64_t time_ns,
			uint32_t tries)
{
	uint64_t at = waiting_key(start), limit = waiting_key(end);
	const struct cow_item *item;
	bool any = false;

	while ((item = cow_tree_next(&map->waiting, at)) && item->start < limit) {
		struct code_inline *inlined = (struct code_inline *)item->value;
		struct code_counts *counts = &inlined->account->counts;
		uint64_t before = counts->inlines;
		int result = place_or_count(map, inlined, time_ns);

		at = item->start + 1;
		any |= counts->inlines != before;
		if (!result)
			counts->inline_no_parent--;
		if (result > 0)
			inlined->tries += tries;
		if (!result || inlined->tries >= TRIES_MAX)
			stop_waiting(map, at - 1);
	}
	return any;
}

void code_map_settle(struct code_map *map, uint64_t start, uint64_t end, uint64_t time_ns,
		     bool is_load)
{
	uint32_t tries = is_load ? TRIES_OF_LOAD : 1;

	/* Each pass but the last enters one more level, so there are no more passes than levels. */
	while (map->waiting.size && settle_once(map, start, end, time_ns, tries))
		tries = 1;
}

int code_map_for_each_waiting(const struct code_map *map,
			      int (*fn)(void *context, const struct code_inline *inlined),
			      void *context)
{
	const struct cow_item *item;
	int result = 0;

	for (uint64_t at = 0; !result && (item = cow_tree_next(&map->arrivals, at)); at = item->end)
		result = fn(context,
			    (const struct code_inline *)cow_tree_next(&map->waiting, item->from_ns)
				    ->value);
	return result;
}

void code_map_sift_waiting(struct code_map *map, const struct code_gap *gap)
{
	const struct cow_item *item;

	for (uint64_t at = 0; (item = cow_tree_next(&map->waiting, at));) {
		const struct code_inline *inlined = (const struct code_inline *)item->value;

		at = item->start + 1;
		if (item->from_ns <= gap->to_ns && code_gap_ends(gap, &inlined->origin))
			stop_waiting(map, at - 1);
	}
}

int code_map_inline(struct code_map *map, struct code_account *account,
		    const struct code_event *event)
{
	CLEANUP(code_inline_putp) struct code_inline *inlined = NULL;
	uint64_t start = event->address, size_bytes = event->size_bytes;
	struct code_counts *counts = &account->counts;
	uint64_t before = counts->inlines;
	int err;

	if (code_range_is_invalid(start, size_bytes) || !event->method_id) {
		counts->invalid++;
		return 0;
	}
	if (code_map_is_in_gap(map, &event->origin, event->time_ns)) {
		counts->in_gap++;
		return 0;
	}
	err = code_inline_create(event, account, &inlined);
	if (err == -EDQUOT) {
		code_account_count_refused(account);
		return 0;
	}
	err = err ?: place_or_count(map, inlined, event->time_ns);
	if (err > 0)
		err = wait_for_parent(map, inlined, event->time_ns);
	else if (!err && counts->inlines != before)
		code_map_settle(map, start, start + size_bytes, event->time_ns, false);
	return err;
}
