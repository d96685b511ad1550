/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/code/code_map.h"

#include <errno.h>
#include <stdlib.h>

#include "base/scope.h"
#include "state/code/code_map_state.h"
#include "state/code/code_methods.h"
#include "state/code/code_publisher.h"

#define HIT_KEEP 4096 /* capacity of `hit` that is kept for the next event */

DEFINE_CLEANUP(struct code_map *, code_map_destroy);

static struct code_map *map_alloc(uint64_t *next_number)
{
	struct code_map *map = calloc(1, sizeof(*map));

	if (!map)
		return NULL;
	map->next_number = next_number;
	map->own_number = map->first_number = *next_number;
	return map;
}

int code_map_create(uint64_t *next_number, struct code_map **ret)
{
	CLEANUP(code_map_destroyp) struct code_map *map = map_alloc(next_number);
	int err = map ? space_map_create(SPACE_END_WHOLE, &map->space) : -ENOMEM;

	if (err)
		return err;
	*ret = TAKE_PTR(map);
	return 0;
}

/*
 * Count the bytes of a region that comes into force, or ends. Inherited regions are counted only in
 * the map of the parent.
 */
static void count_live(const struct code_map *map, const struct code_record *record, bool live)
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
	count_live(map, code_record_of(&region->value), false);
	return 0;
}

void code_map_destroy(struct code_map *map)
{
	if (!map)
		return;
	if (map->space)
		code_map_for_each(map, end_live, map);
	space_map_destroy(map->space);
	cow_tree_deinit(&map->methods);
	cow_tree_deinit(&map->registered);
	cow_tree_deinit(&map->waiting);
	cow_tree_deinit(&map->arrivals);
	cow_tree_deinit(&map->late_claims);
	code_map_forget_gaps(map, UINT64_MAX);
	vec_deinit(&map->gaps);
	vec_deinit(&map->hit);
	free(map);
}

void code_map_set_line_rules(struct code_map *map, const struct code_line_rules *rules)
{
	map->line_rules = rules;
}

/* --- ending and entering regions --------------------------------------------------- */

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
		count_live(map, code_record_of(hit->value), false);
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

static void index_claims(struct code_map *map, struct code_region *region, uint64_t time_ns)
{
	for (uint32_t i = 0; i < region->claim_count; i++) {
		uint64_t key = region->claims[i].method_key;
		struct cow_item item = {.start = key,
					.end = key + 1,
					.from_ns = time_ns,
					.value = space_value_get(&region->value)};

		cow_tree_insert(&map->methods, &item);
	}
}

/* After a record was inserted into the space map: number it, and update the index. */
static void entered(struct code_map *map, struct code_record *record, uint64_t time_ns)
{
	struct code_region *region = &record->region;

	region->number = (*map->next_number)++;
	if (!record->identity)
		record->identity = region->number + 1;
	unindex_ended(map);
	/* A late record may be in history only. */
	if (is_in_force(map, region->address, &region->value)) {
		count_live(map, record, true);
		index_claims(map, region, time_ns);
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
		err = code_record_copy(record, account, &change.record);
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

/* --- events ------------------------------------------------------------------------- */

bool code_event_is_about(const struct code_event *event, const struct code_region *region)
{
	const struct code_claim *claim = code_region_claim(region, event->origin.publisher);

	return !claim || (code_origin_can_be(&event->origin, &claim->origin) &&
			  (!event->method_id || event->method_id == claim->method_id));
}

static int apply_event(struct code_map *map, struct code_account *account,
		       const struct code_event *event)
{
	switch (event->kind) {
	case JITBPF_CODE_LOAD:
		return code_map_load(map, account, event);
	case JITBPF_CODE_UNLOAD:
		return code_map_unload(map, account, event);
	case JITBPF_CODE_REPLACED:
		return code_map_end_replaced(map, account, event);
	case JITBPF_CODE_MOVE:
		return code_map_move(map, account, event);
	case JITBPF_CODE_INLINE:
		return code_map_inline(map, account, event);
	case JITBPF_CODE_UPDATE:
		return code_map_update(map, account, event);
	case JITBPF_CODE_LINES:
		return code_map_lines(map, account, event);
	case JITBPF_CODE_CLOSE:
		break;
	case JITBPF_CODE_NOTHING:
		account->counts.nothing++;
		break;
	default:
		account->counts.not_understood++;
	}
	return 0;
}

int code_map_apply(struct code_map *map, struct code_account *account,
		   const struct code_event *event)
{
	int err = apply_event(map, account, event);

	if (!err)
		account->counts.unknown_fields += event->unknown_fields;
	return err;
}

bool code_map_has_others(const struct code_map *map, uint64_t start, uint64_t end, uint64_t engine)
{
	struct space_entry entry;

	for (uint64_t at = start;
	     at < end && space_map_next(map->space, at, &entry) && entry.start < end;
	     at = entry.end) {
		const struct code_region *region = &code_record_of(entry.value)->region;

		if (!code_engine_same_process(region->claims[0].origin.engine, engine))
			return true;
	}
	return false;
}

const struct code_region *code_map_find(const struct code_map *map, uint64_t address,
					uint64_t time_ns)
{
	const struct code_region *region;
	struct space_entry entry;

	if (!space_map_find(map->space, address, time_ns, &entry))
		return NULL;
	region = &code_record_of(entry.value)->region;
	return code_layout_is_data(region->layout, address - region->address) ? NULL : region;
}

size_t code_map_history(const struct code_map *map)
{
	return space_map_history(map->space);
}

bool code_map_has_ended_since(const struct code_map *map, uint64_t time_ns)
{
	return space_map_has_ended_since(map->space, time_ns);
}

const struct code_region *code_map_successor(const struct code_map *map, uint64_t address,
					     uint64_t *time_ns, uint64_t *ret_ended_ns)
{
	struct space_entry entry, next;

	if (!space_map_find(map->space, address, *time_ns, &entry) ||
	    !space_map_find_from(map->space, address, entry.to_ns, &next))
		return NULL;
	*time_ns = next.from_ns;
	*ret_ended_ns = entry.to_ns;
	return &code_record_of(next.value)->region;
}

const struct code_region *code_map_next(const struct code_map *map, uint64_t address)
{
	struct space_entry entry;

	if (!space_map_next(map->space, address, &entry))
		return NULL;
	return &code_record_of(entry.value)->region;
}

struct region_visit {
	int (*fn)(void *context, const struct code_region *region);
	void *context;
};

static int visit_region(void *context, const struct space_entry *entry)
{
	const struct region_visit *visit = context;

	return visit->fn(visit->context, &code_record_of(entry->value)->region);
}

int code_map_for_each(const struct code_map *map,
		      int (*fn)(void *context, const struct code_region *region), void *context)
{
	struct region_visit visit = {.fn = fn, .context = context};

	return space_map_for_each(map->space, visit_region, &visit);
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
		code_map_for_each(map, end_live, map);
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

int code_map_clone(struct code_map *map, struct code_map **ret)
{
	CLEANUP(code_map_destroyp) struct code_map *clone = map_alloc(map->next_number);
	int err = clone ? space_map_clone(map->space, &clone->space) : -ENOMEM;

	if (err)
		return err;
	clone->methods = cow_tree_clone(&map->methods);
	clone->registered = cow_tree_clone(&map->registered);
	clone->newest_ns = map->newest_ns;
	clone->cleared_ns = map->cleared_ns;
	clone->line_rules = map->line_rules;
	clone->publishers = map->publishers;
	map->own_number = *map->next_number;
	*ret = TAKE_PTR(clone);
	return 0;
}

bool code_map_is_late(const struct code_map *map)
{
	for (uint32_t i = 0; i < JITBPF_PUBLISHER_COUNT; i++) {
		if (map->publishers >> i & 1 && code_publisher_of(i)->late)
			return true;
	}
	return false;
}

bool code_map_is_untouched(const struct code_map *map)
{
	return !space_map_generation(map->space) && !map->waiting.size && !map->gaps.size;
}

void code_map_forget(struct code_map *map, uint64_t time_ns)
{
	space_map_forget(map->space, time_ns);
	code_map_forget_claims(map, time_ns);
	code_map_forget_gaps(map, time_ns);
}

uint64_t code_map_generation(const struct code_map *map)
{
	return space_map_generation(map->space);
}
