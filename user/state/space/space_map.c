/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/space/space_map_state.h"

#include <errno.h>
#include <stdlib.h>

#include "base/scope.h"
#include "state/space/cow_range.h"

DEFINE_CLEANUP(struct space_map *, space_map_destroy);

/* The entries that a range to be inserted overlaps. */
struct survey {
	uint64_t start, end;
	uint64_t time_ns;
	size_t older; /* entries in force to end */
	size_t newer; /* entries in force that stay */
};

int space_map_create(enum space_overlap overlap, struct space_map **ret)
{
	struct space_map *map = calloc(1, sizeof(*map));

	if (!map)
		return -ENOMEM;
	map->overlap = overlap;
	map->lowest = UINT64_MAX;
	*ret = map;
	return 0;
}

void space_map_destroy(struct space_map *map)
{
	if (!map)
		return;
	cow_tree_deinit(&map->tree);
	space_history_deinit(&map->history);
	vec_deinit(&map->pieces.parts);
	free(map);
}

/* Count entries that began or ended at time_ns. Keeps the changes since limit_ns few. */
static void changed(struct space_map *map, uint64_t time_ns, size_t entries)
{
	map->generation++;
	map->changes += entries;
	if (map->newest_ns < time_ns)
		map->newest_ns = time_ns;
	if (map->changes < SPACE_LATE_MAX)
		return;
	map->limit_ns = map->changes < 2 * SPACE_LATE_MAX ? map->recent_ns : map->newest_ns;
	map->recent_ns = map->newest_ns;
	map->changes = 0;
}

static void survey_range(const struct space_map *map, struct survey *survey)
{
	const struct cow_item *item = cow_tree_next(&map->tree, survey->start);

	while (item && item->start < survey->end) {
		if (item->from_ns > survey->time_ns)
			survey->newer++;
		else
			survey->older++;
		item = item->end < survey->end ? cow_tree_next(&map->tree, item->end) : NULL;
	}
}

/* Determine the parts of the inserted range. Usually there is one, which is in force. */
static int pieces_plan(struct space_map *map, const struct survey *survey)
{
	const struct cow_item *item;
	uint64_t to_ns = survey->time_ns < map->cleared_ns ? map->cleared_ns : UINT64_MAX;
	size_t left = survey->newer;
	int err = space_pieces_begin(&map->pieces, survey->start, survey->end, to_ns);

	for (item = left ? cow_tree_next(&map->tree, survey->start) : NULL; left && !err;
	     item = cow_tree_next(&map->tree, item->end)) {
		if (item->from_ns > survey->time_ns) {
			err = space_pieces_yield(&map->pieces, map->overlap, item->start, item->end,
						 item->from_ns);
			left--;
		}
	}
	for (size_t i = space_history_size(&map->history); i-- && !err;) {
		const struct space_entry *entry = space_history_at(&map->history, i);

		if (entry->to_ns <= survey->time_ns)
			break;
		if (entry->from_ns > survey->time_ns && entry->start < survey->end &&
		    entry->end > survey->start)
			err = space_pieces_yield(&map->pieces, map->overlap, entry->start,
						 entry->end, entry->from_ns);
	}
	return err;
}

/* Move an item to the history. An item that ends when it began is dropped. */
static void retire(struct space_map *map, const struct cow_item *item, uint64_t to_ns)
{
	struct space_entry entry = space_entry_of(item);

	entry.to_ns = to_ns;
	if (item->from_ns < to_ns)
		space_history_add(&map->history, &entry);
	else
		space_value_put(item->value);
}

static void end_older(struct space_map *map, const struct survey *survey)
{
	uint64_t at = survey->start;

	for (size_t left = survey->older; left;) {
		const struct cow_item *next = cow_tree_next(&map->tree, at);
		struct cow_item item = *next;

		at = item.end;
		if (item.from_ns > survey->time_ns)
			continue;
		left--;
		item = cow_tree_remove(&map->tree, item.start);
		if (map->overlap == SPACE_CUT) {
			cow_range_keep(&map->tree, &item, item.start, survey->start);
			cow_range_keep(&map->tree, &item, survey->end, item.end);
			item.start = item.start > survey->start ? item.start : survey->start;
			item.end = item.end < survey->end ? item.end : survey->end;
		}
		retire(map, &item, survey->time_ns);
	}
}

static bool in_force(const struct space_map *map, const struct space_key *key, uint64_t time_ns)
{
	const struct cow_item *item = cow_tree_next(&map->tree, key->start);

	return item && item->start == key->start && item->value == key->value &&
	       item->from_ns <= time_ns;
}

static bool end_key(struct space_map *map, const struct space_key *key, uint64_t time_ns)
{
	struct cow_item item;

	if (!in_force(map, key, time_ns))
		return false;
	item = cow_tree_remove(&map->tree, key->start);
	retire(map, &item, time_ns);
	return true;
}

int space_map_insert(struct space_map *map, uint64_t start, uint64_t end, uint64_t time_ns,
		     struct space_value *value)
{
	return space_map_move(map, NULL, start, end, time_ns, value);
}

int space_map_move(struct space_map *map, const struct space_key *from, uint64_t start,
		   uint64_t end, uint64_t time_ns, struct space_value *value)
{
	struct survey survey = {
		.start = start, .end = end, .time_ns = space_map_within_reach(map, time_ns)};
	bool moves = from && in_force(map, from, survey.time_ns);
	int err;

	if (start >= end)
		return -EINVAL;
	survey_range(map, &survey);
	err = pieces_plan(map, &survey);
	/* Two more for the rests on both sides of a cut. */
	if (!err)
		err = cow_tree_reserve(&map->tree, survey.older + moves,
				       map->pieces.parts.size + 2);
	if (!err)
		err = space_history_reserve(&map->history,
					    survey.older + moves + map->pieces.parts.size);
	if (err)
		return err;

	end_older(map, &survey);
	if (moves)
		end_key(map, from, survey.time_ns);
	vec_for_each (piece, &map->pieces.parts) {
		struct cow_item item = {.start = piece->start,
					.end = piece->end,
					.from_ns = survey.time_ns,
					.value = space_value_get(value)};

		if (piece->to_ns == UINT64_MAX)
			cow_tree_insert(&map->tree, &item);
		else
			retire(map, &item, piece->to_ns);
	}
	map->lowest = start < map->lowest ? start : map->lowest;
	map->highest = end > map->highest ? end : map->highest;
	changed(map, survey.time_ns, survey.older + moves + map->pieces.parts.size);
	return 0;
}

/* Returns true if no other entry of an item's range began after from_ns. */
static bool can_begin_at(const struct space_map *map, const struct cow_item *item, uint64_t from_ns)
{
	if (from_ns < map->cleared_ns)
		return false;
	for (size_t i = space_history_size(&map->history); i--;) {
		const struct space_entry *entry = space_history_at(&map->history, i);

		if (entry->to_ns <= from_ns)
			return true;
		if (entry->start < item->end && item->start < entry->end &&
		    entry->from_ns > from_ns)
			return false;
	}
	return true;
}

int space_map_replace(struct space_map *map, const struct space_key *key, uint64_t from_ns,
		      struct space_value *value)
{
	struct cow_item item = *cow_tree_next(&map->tree, key->start);
	int err;

	from_ns = space_map_within_reach(map, from_ns);
	if (from_ns >= item.from_ns || !can_begin_at(map, &item, from_ns))
		return space_map_insert(map, item.start, item.end, item.from_ns, value);
	err = cow_tree_reserve(&map->tree, 1, 1);
	if (err)
		return err;
	item = cow_tree_remove(&map->tree, item.start);
	err = space_map_insert(map, item.start, item.end, from_ns, value);
	if (err)
		cow_tree_insert(&map->tree, &item);
	else
		space_value_put(item.value);
	return err;
}

int space_map_end_each(struct space_map *map, const struct space_key *keys, size_t count,
		       uint64_t time_ns, size_t *ret_ended)
{
	size_t found = 0, ended = 0;

	time_ns = space_map_within_reach(map, time_ns);
	for (size_t i = 0; i < count; i++)
		found += in_force(map, &keys[i], time_ns);
	if (cow_tree_reserve(&map->tree, found, 0) || space_history_reserve(&map->history, found))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		ended += end_key(map, &keys[i], time_ns);
	if (ended)
		changed(map, time_ns, ended);
	*ret_ended = ended;
	return 0;
}

int space_map_drop_each(struct space_map *map, const struct space_key *keys, size_t count)
{
	if (cow_tree_reserve(&map->tree, count, 0))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct cow_item item;

		if (!in_force(map, &keys[i], UINT64_MAX))
			continue;
		item = cow_tree_remove(&map->tree, keys[i].start);
		space_value_put(item.value);
	}
	map->generation += count > 0;
	return 0;
}

int space_map_end(struct space_map *map, uint64_t start, const struct space_value *value,
		  uint64_t time_ns)
{
	struct space_key key = {.start = start, .value = value};
	size_t ended;
	int err = space_map_end_each(map, &key, 1, time_ns, &ended);

	return err ? err : (int)ended;
}

/* State of space_map_clear(): the entries that end, and those that are too new and stay. */
struct clearing {
	struct space_map *map;
	struct cow_tree kept;
	uint64_t time_ns;
};

static int clearing_keep(void *context, const struct cow_item *item)
{
	struct clearing *clearing = context;

	if (item->from_ns <= clearing->time_ns)
		return 0;
	if (cow_tree_reserve(&clearing->kept, 0, 1))
		return -ENOMEM;
	space_value_get(item->value);
	cow_tree_insert(&clearing->kept, item);
	return 0;
}

static int clearing_retire(void *context, const struct cow_item *item)
{
	struct clearing *clearing = context;

	if (item->from_ns > clearing->time_ns)
		return 0;
	space_value_get(item->value);
	retire(clearing->map, item, clearing->time_ns);
	return 0;
}

int space_map_reserve_clear(struct space_map *map)
{
	return space_history_reserve(&map->history, map->tree.size) ? -ENOMEM : 0;
}

int space_map_clear(struct space_map *map, uint64_t time_ns)
{
	struct clearing clearing = {.map = map, .time_ns = space_map_within_reach(map, time_ns)};

	if (space_map_reserve_clear(map) ||
	    cow_tree_for_each(&map->tree, clearing_keep, &clearing)) {
		cow_tree_deinit(&clearing.kept);
		return -ENOMEM;
	}
	cow_tree_for_each(&map->tree, clearing_retire, &clearing);
	if (map->cleared_ns < clearing.time_ns)
		map->cleared_ns = clearing.time_ns;
	changed(map, clearing.time_ns, map->tree.size - clearing.kept.size);
	cow_tree_deinit(&map->tree);
	map->tree = clearing.kept;
	return 0;
}

int space_map_clone(struct space_map *map, struct space_map **ret)
{
	CLEANUP(space_map_destroyp) struct space_map *clone = NULL;
	int err = space_map_create(map->overlap, &clone);

	if (err)
		return err;
	clone->tree = cow_tree_clone(&map->tree);
	clone->lowest = map->lowest;
	clone->highest = map->highest;
	clone->cleared_ns = map->cleared_ns;
	clone->generation = map->generation;
	clone->newest_ns = map->newest_ns;
	clone->recent_ns = map->recent_ns;
	clone->limit_ns = map->limit_ns;
	clone->changes = map->changes;
	*ret = TAKE_PTR(clone);
	return 0;
}

void space_map_forget(struct space_map *map, uint64_t time_ns)
{
	space_history_forget(&map->history, time_ns);
}

bool space_map_has_history(const struct space_map *map)
{
	return space_history_size(&map->history);
}
