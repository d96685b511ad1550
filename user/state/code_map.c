/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/code_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/vec.h"
#include "state/code_region.h"
#include "state/cow_tree.h"

#define HIT_KEEP 4096 /* room for regions that one event hits, kept for the next */

const struct code_budget code_budget_default = {
	.methods = 4u << 20,
	.name_bytes = 1u << 30,
	.lines = 64u << 20,
};

struct code_map {
	struct code_budget budget;
	uint64_t *next_number;
	struct code_usage *usage;
	struct space_map *space;
	/*
	 * The regions in force by method id, in the order in which they came:
	 * a tree as well, so that a fork shares it. See key_of().
	 */
	struct cow_tree methods;
	uint64_t newest_ns; /* of all loads */
	struct code_counts counts;
	VEC(struct space_key) hit; /* within code_map_apply(): regions that may end */
};

DEFINE_CLEANUP(struct code_map *, code_map_destroy);

static void record_put(struct code_record *record)
{
	space_value_put(&record->region.value);
}

DEFINE_CLEANUP(struct code_record *, record_put);

/*
 * How many regions of its id an unload looks at, the latest ones. Parts of one
 * function are a handful; one id on a million regions is no reason to be slow.
 */
#define UNLOAD_REGIONS_MAX 4096

/* Where the regions of a method id stand in the index: 2^32 keys, the last never used. */
static uint64_t key_of(uint32_t method_id, uint32_t sequence)
{
	return (uint64_t)method_id << 32 | sequence;
}

static const struct code_record *record_of(const struct space_value *value)
{
	return (const struct code_record *)value;
}

static int create(const struct code_budget *budget, uint64_t *next_number, struct code_map **ret)
{
	struct code_map *map = calloc(1, sizeof(*map));

	if (!map)
		return -ENOMEM;
	map->usage = code_usage_create();
	if (!map->usage) {
		free(map);
		return -ENOMEM;
	}
	map->budget = *budget;
	map->next_number = next_number;
	*ret = map;
	return 0;
}

int code_map_create(const struct code_budget *budget, uint64_t *next_number, struct code_map **ret)
{
	CLEANUP(code_map_destroyp) struct code_map *map = NULL;
	int err = create(budget, next_number, &map);

	if (!err)
		err = space_map_create(SPACE_END_WHOLE, &map->space);
	if (err)
		return err;
	*ret = TAKE_PTR(map);
	return 0;
}

void code_map_destroy(struct code_map *map)
{
	if (!map)
		return;
	space_map_destroy(map->space);
	cow_tree_deinit(&map->methods);
	vec_deinit(&map->hit);
	code_usage_put(map->usage);
	free(map);
}

static int hit_push(struct code_map *map, const struct space_entry *entry)
{
	return vec_push(&map->hit, ((struct space_key){entry->start, entry->value}));
}

/* Gather the regions in force that [start, end) overlaps. */
static int gather_overlapped(struct code_map *map, uint64_t start, uint64_t end)
{
	struct space_entry entry;
	uint64_t at = start;
	int err = 0;

	map->hit.size = 0;
	while (!err && at < end && space_map_next(map->space, at, &entry) && entry.start < end) {
		err = hit_push(map, &entry);
		at = entry.end;
	}
	return err;
}

static bool is_in_force(const struct code_map *map, uint64_t start, const struct space_value *value)
{
	struct space_entry entry;

	return space_map_next(map->space, start, &entry) && entry.value == value;
}

/*
 * Take those gathered regions out of the index that are in force no more. Until
 * then it is the index that keeps them from being freed.
 */
static void unindex_ended(struct code_map *map)
{
	vec_for_each (hit, &map->hit) {
		struct cow_item removed;

		if (is_in_force(map, hit->start, hit->value))
			continue;
		removed = cow_tree_remove(&map->methods, record_of(hit->value)->method_key);
		space_value_put(removed.value);
	}
	map->hit.size = 0;
	if (map->hit.capacity > HIT_KEEP)
		vec_deinit(&map->hit);
}

/* A key behind those of the same method; false where there is none left. */
static bool next_key(const struct code_map *map, uint32_t method_id, uint64_t *ret)
{
	const struct cow_item *last = cow_tree_last(&map->methods, key_of(method_id, UINT32_MAX));
	uint64_t key = key_of(method_id, 0);

	if (last && last->start >= key)
		key = last->start + 1;
	*ret = key;
	return key < key_of(method_id, UINT32_MAX);
}

/* What a load that is not kept overwrote has ended nonetheless. */
static int refuse(struct code_map *map, uint64_t time_ns)
{
	size_t ended;
	int err = cow_tree_reserve(&map->methods, map->hit.size, 0);

	if (!err)
		err = space_map_end_each(map->space, map->hit.data, map->hit.size, time_ns, &ended);
	if (err)
		return err;
	unindex_ended(map);
	map->counts.over_budget++;
	return 0;
}

static int apply_load(struct code_map *map, const struct jit_event *event, uint64_t time_ns)
{
	CLEANUP(record_putp) struct code_record *record = NULL;
	uint64_t start = event->header.address, size_bytes = event->header.code_bytes;
	struct cow_item item;
	uint64_t key;
	int err;

	if (!start || !size_bytes || start + size_bytes < start || !event->header.method_id) {
		map->counts.invalid++;
		return 0;
	}
	err = gather_overlapped(map, start, start + size_bytes);
	if (err)
		return err;
	if (!next_key(map, event->header.method_id, &key))
		return refuse(map, time_ns);
	err = code_record_create(event, time_ns, &map->budget, map->usage, &record);
	if (err == -EDQUOT)
		return refuse(map, time_ns);
	if (!err)
		err = cow_tree_reserve(&map->methods, map->hit.size, 1);
	if (!err)
		err = space_map_insert(map->space, start, start + size_bytes, time_ns,
				       &record->region.value);
	if (err)
		return err;

	record->region.number = (*map->next_number)++;
	record->method_key = key;
	unindex_ended(map);
	/* One that came too late to be in force is only history. */
	if (is_in_force(map, start, &record->region.value)) {
		item = (struct cow_item){.start = key,
					 .end = key + 1,
					 .from_ns = time_ns,
					 .value = space_value_get(&record->region.value)};
		cow_tree_insert(&map->methods, &item);
	}
	if (map->newest_ns < time_ns)
		map->newest_ns = time_ns;
	map->counts.loads++;
	map->counts.code_bytes += size_bytes;
	return 0;
}

/* The region of a method id that came last before the one at key, or NULL. */
static const struct cow_item *method_before(const struct code_map *map, uint32_t method_id,
					    uint64_t key)
{
	const struct cow_item *item = NULL;

	if (key > key_of(method_id, 0))
		item = cow_tree_last(&map->methods, key - 1);
	return item && item->start >= key_of(method_id, 0) ? item : NULL;
}

/* Which caller's regions of a method id an unload means: see code_map_apply(). */
static bool choose_caller(const struct code_map *map, const struct jit_event *event,
			  uint64_t time_ns, uint64_t *ret)
{
	uint32_t id = event->header.method_id;
	const struct cow_item *item = method_before(map, id, key_of(id, UINT32_MAX));
	bool any = false;

	for (size_t left = UNLOAD_REGIONS_MAX; item && left; left--) {
		uint64_t caller = record_of(item->value)->region.caller;

		if (item->from_ns <= time_ns) {
			if (!any || caller == event->header.caller)
				*ret = caller;
			if (caller == event->header.caller)
				return true;
			any = true;
		}
		item = method_before(map, id, item->start);
	}
	return any;
}

static int gather_method(struct code_map *map, const struct jit_event *event, uint64_t time_ns)
{
	uint32_t id = event->header.method_id;
	const struct cow_item *item = method_before(map, id, key_of(id, UINT32_MAX));
	uint64_t caller = 0;
	int err = 0;

	map->hit.size = 0;
	if (!choose_caller(map, event, time_ns, &caller))
		return 0;
	for (size_t left = UNLOAD_REGIONS_MAX; !err && item && left; left--) {
		const struct code_region *region = &record_of(item->value)->region;

		if (region->caller == caller)
			err = vec_push(&map->hit,
				       ((struct space_key){region->address, item->value}));
		item = method_before(map, id, item->start);
	}
	return err;
}

static int gather_starting_in(struct code_map *map, uint64_t start, uint64_t size_bytes)
{
	uint64_t end = start + (size_bytes ? size_bytes : 1);
	int err = gather_overlapped(map, start, end > start ? end : UINT64_MAX);

	if (!err && map->hit.size && map->hit.data[0].start < start) {
		map->hit.size--;
		memmove(map->hit.data, map->hit.data + 1, map->hit.size * sizeof(*map->hit.data));
	}
	return err;
}

static int apply_unload(struct code_map *map, const struct jit_event *event, uint64_t time_ns)
{
	size_t ended;
	int err;

	if (event->header.method_id)
		err = gather_method(map, event, time_ns);
	else
		err = gather_starting_in(map, event->header.address, event->header.code_bytes);
	if (!err)
		err = cow_tree_reserve(&map->methods, map->hit.size, 0);
	if (!err)
		err = space_map_end_each(map->space, map->hit.data, map->hit.size, time_ns, &ended);
	if (err)
		return err;
	unindex_ended(map);
	if (ended)
		map->counts.unloads++;
	else
		map->counts.unload_unknown++;
	return 0;
}

int code_map_apply(struct code_map *map, const struct jit_event *event, uint64_t time_ns)
{
	int err = 0;

	switch (event->header.event) {
	case JIT_EVENT_LOAD:
	case JIT_EVENT_LOAD_V2:
	case JIT_EVENT_LOAD_V3:
		err = apply_load(map, event, time_ns);
		break;
	case JIT_EVENT_UNLOAD:
		err = apply_unload(map, event, time_ns);
		break;
	case JIT_EVENT_SHUTDOWN:
		break;
	default:
		map->counts.not_understood++;
	}
	if (!err)
		map->counts.unknown_fields += event->unknown_fields;
	return err;
}

const struct code_region *code_map_find(const struct code_map *map, uint64_t address,
					uint64_t time_ns)
{
	struct space_entry entry;

	if (!space_map_find(map->space, address, time_ns, &entry))
		return NULL;
	return &record_of(entry.value)->region;
}

int code_map_clear(struct code_map *map, uint64_t time_ns)
{
	int err = 0;

	/* Nearly always all of it ends: then there is no need to look at each region. */
	map->hit.size = 0;
	if (map->newest_ns > time_ns)
		err = gather_overlapped(map, 0, UINT64_MAX);
	if (!err)
		err = cow_tree_reserve(&map->methods, map->hit.size, 0);
	if (!err)
		err = space_map_clear(map->space, time_ns);
	if (err)
		return err;
	if (map->newest_ns <= time_ns)
		cow_tree_deinit(&map->methods);
	unindex_ended(map);
	return 0;
}

int code_map_clone(struct code_map *map, struct code_map **ret)
{
	CLEANUP(code_map_destroyp) struct code_map *clone = NULL;
	int err = create(&map->budget, map->next_number, &clone);

	if (!err)
		err = space_map_clone(map->space, &clone->space);
	if (err)
		return err;
	clone->methods = cow_tree_clone(&map->methods);
	clone->newest_ns = map->newest_ns;
	*ret = TAKE_PTR(clone);
	return 0;
}

void code_map_forget(struct code_map *map, uint64_t time_ns)
{
	space_map_forget(map->space, time_ns);
}

uint64_t code_map_generation(const struct code_map *map)
{
	return space_map_generation(map->space);
}

const struct code_counts *code_map_counts(const struct code_map *map)
{
	return &map->counts;
}
