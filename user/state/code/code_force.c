/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Regions of a code map that come into force, change or end, and the index of their methods. */
#include "base/scope.h"
#include "state/code/code_map_state.h"

#define HIT_KEEP 4096 /* capacity of `hit` that is kept for the next event */

void code_map_count_live(const struct code_map *map, const struct code_record *record, bool live)
{
	uint64_t *bytes = &record->account->live_bytes, size = record->region.size_bytes;
	const struct code_watch *watch = record->account->watch;

	if (record->region.number < map->first_number)
		return;
	if (live)
		*bytes += size;
	else
		*bytes -= size < *bytes ? size : *bytes;
	if (watch)
		watch->changed(watch->context, map, &record->region, live);
}

static int end_live(void *map, const struct code_region *region)
{
	code_map_count_live(map, code_record_of(&region->value), false);
	return 0;
}

void code_map_count_ends(struct code_map *map)
{
	code_map_for_each(map, end_live, map);
}

int code_map_gather(struct code_map *map, uint64_t start, uint64_t end)
{
	struct space_entry entry;
	uint64_t at = start;
	int err = 0;

	map->hit.size = 0;
	while (!err && at < end && space_map_next(map->space, at, &entry) && entry.start < end) {
		err = vec_push(&map->hit, ((struct space_key){entry.start, entry.value}));
		at = entry.end;
	}
	return err;
}

static bool is_in_force(const struct code_map *map, uint64_t start, const struct space_value *value)
{
	struct space_entry entry;

	return space_map_next(map->space, start, &entry) && entry.value == value;
}

/* Returns the number of index entries of the gathered regions. */
static size_t indexed_hits(const struct code_map *map)
{
	size_t count = 0;

	vec_for_each (hit, &map->hit)
		count += code_record_of(hit->value)->region.claim_count;
	return count;
}

static void unindex(struct code_map *map, const struct code_region *region)
{
	/* Removing the last entry may free the region. */
	for (uint32_t i = region->claim_count; i--;) {
		struct cow_item removed =
			cow_tree_remove(&map->methods, region->claims[i].method_key);

		space_value_put(removed.value);
	}
}

/* Remove the gathered regions that are no longer in force from the index. */
static void unindex_ended(struct code_map *map)
{
	vec_for_each (hit, &map->hit) {
		if (is_in_force(map, hit->start, hit->value))
			continue;
		code_map_count_live(map, code_record_of(hit->value), false);
		unindex(map, &code_record_of(hit->value)->region);
	}
	map->hit.size = 0;
	if (map->hit.capacity > HIT_KEEP)
		vec_deinit(&map->hit);
}

int code_map_end_gathered(struct code_map *map, uint64_t time_ns, size_t *ret_ended)
{
	int err = cow_tree_reserve(&map->methods, indexed_hits(map), 0);

	if (!err)
		err = space_map_end_each(map->space, map->hit.data, map->hit.size, time_ns,
					 ret_ended);
	if (!err)
		unindex_ended(map);
	return err;
}

int code_map_drop_gathered(struct code_map *map)
{
	int err = cow_tree_reserve(&map->methods, indexed_hits(map), 0);

	vec_for_each (hit, &map->hit)
		space_value_get((struct space_value *)hit->value);
	err = err ?: space_map_drop_each(map->space, map->hit.data, map->hit.size);
	vec_for_each (hit, &map->hit) {
		const struct code_record *record = code_record_of(hit->value);

		if (!err) {
			code_map_count_live(map, record, false);
			unindex(map, &record->region);
		}
		space_value_put((struct space_value *)hit->value);
	}
	map->hit.size = 0;
	if (map->hit.capacity > HIT_KEEP)
		vec_deinit(&map->hit);
	return err;
}

static void index_claims(struct code_map *map, struct code_region *region)
{
	for (uint32_t i = 0; i < region->claim_count; i++) {
		uint64_t key = region->claims[i].method_key;
		struct cow_item item = {.start = key, .value = space_value_get(&region->value)};

		cow_tree_insert(&map->methods, &item);
	}
}

/* After a record was inserted into the space map: number it, and update the index. */
static void entered(struct code_map *map, struct code_record *record, uint64_t time_ns)
{
	struct code_region *region = &record->region;

	region->number = (*map->next_number)++;
	unindex_ended(map);
	/* A late record may be in history only. */
	if (is_in_force(map, region->address, &region->value)) {
		code_map_count_live(map, record, true);
		index_claims(map, region);
	}
	if (map->newest_ns < time_ns)
		map->newest_ns = time_ns;
}

int code_map_enter(struct code_map *map, struct code_record *record, uint64_t time_ns,
		   const struct space_key *instead)
{
	struct code_region *region = &record->region;
	int err = cow_tree_reserve(&map->methods, indexed_hits(map), region->claim_count);

	err = err
		      ?: space_map_move(map->space, instead, region->address,
					region->address + region->size_bytes, time_ns,
					&region->value);
	if (!err)
		entered(map, record, time_ns);
	return err;
}

int code_map_enter_version(struct code_map *map, struct code_record *record,
			   const struct space_entry *entry, uint64_t from_ns)
{
	struct space_key key = {entry->start, entry->value};
	int err = code_map_gather(map, entry->start, entry->end);

	err = err ?: cow_tree_reserve(&map->methods, indexed_hits(map), record->region.claim_count);
	if (!err && from_ns > entry->from_ns)
		err = space_map_insert(map->space, entry->start, entry->end, from_ns,
				       &record->region.value);
	else if (!err)
		err = space_map_replace(map->space, &key, from_ns, &record->region.value);
	if (!err)
		entered(map, record, from_ns > entry->from_ns ? from_ns : entry->from_ns);
	return err;
}

int code_map_clear(struct code_map *map, uint64_t time_ns)
{
	int err = 0;

	/* Usually all regions end; then the index is replaced as a whole. */
	map->hit.size = 0;
	if (map->newest_ns > time_ns)
		err = code_map_gather(map, 0, UINT64_MAX);
	if (!err)
		err = cow_tree_reserve(&map->methods, indexed_hits(map), 0);
	if (!err && map->newest_ns <= time_ns)
		err = space_map_reserve_clear(map->space);
	if (!err && map->newest_ns <= time_ns)
		code_map_count_ends(map);
	if (!err)
		err = space_map_clear(map->space, time_ns);
	if (err)
		return err;
	if (map->cleared_ns < time_ns)
		map->cleared_ns = time_ns;
	if (map->newest_ns <= time_ns)
		cow_tree_deinit(&map->methods);
	unindex_ended(map);
	cow_tree_deinit(&map->registered);
	cow_tree_deinit(&map->waiting);
	cow_tree_deinit(&map->arrivals);
	map->waiting_bytes = 0;
	code_map_forget_gaps(map, UINT64_MAX);
	return 0;
}

/* --- changes to a region ------------------------------------------------------------ */

int code_change_begin(struct code_map *map, struct code_account *account,
		      const struct space_entry *entry, uint64_t time_ns, bool as_new,
		      struct code_change *ret)
{
	struct code_record *record = code_record_of(entry->value);
	uint32_t own_refs = 1 + record->region.claim_count; /* of the space map and the index */
	struct code_change change = {.record = record};
	int err = 0;

	change.time_ns = time_ns > entry->from_ns ? time_ns : entry->from_ns;
	change.is_new = as_new || record->region.value.refs > own_refs ||
			record->region.number < map->own_number;
	if (change.is_new)
		err = code_record_copy(record, account, map->first_number, &change.record);
	if (err)
		return err;
	change.has_new_layout = !change.record->region.layout;
	if (change.has_new_layout)
		err = code_record_add_layout(change.record);
	if (err) {
		code_change_cancel(&change);
		return err;
	}
	*ret = change;
	return 0;
}

int code_change_enter(struct code_map *map, struct code_change *change)
{
	const struct code_region *region = &change->record->region;
	int err;

	if (!change->is_new)
		return 0;
	err = code_map_gather(map, region->address, region->address + region->size_bytes);
	if (!err)
		err = code_map_enter(map, change->record, change->time_ns, NULL);
	if (err)
		return err;
	code_record_put(change->record); /* the map has its own reference */
	change->is_new = change->has_new_layout = false;
	return 0;
}

void code_change_cancel(struct code_change *change)
{
	if (change->is_new)
		code_record_put(change->record);
	else if (change->has_new_layout)
		code_record_drop_layout(change->record);
	change->is_new = change->has_new_layout = false;
}
