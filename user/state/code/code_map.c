/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/code/code_map.h"

#include <errno.h>
#include <stdlib.h>

#include "base/scope.h"
#include "state/code/code_map_state.h"
#include "state/code/code_methods.h"

#define HIT_KEEP 4096 /* room for regions that one event hits, kept for the next */

const struct code_budget code_budget_default = {
	.methods = 4u << 20,
	.name_bytes = 1u << 30,
	.lines = 64u << 20,
	.inlines = 4u << 20,
	.waiting = 64u << 10,
	.depth = CODE_LEVELS_MAX - 1,
};

DEFINE_CLEANUP(struct code_map *, code_map_destroy);

static int map_alloc(const struct code_budget *budget, uint64_t *next_number, struct code_map **ret)
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
	if (map->budget.depth >= CODE_LEVELS_MAX)
		map->budget.depth = CODE_LEVELS_MAX - 1;
	map->next_number = next_number;
	map->own_number = map->first_number = *next_number;
	*ret = map;
	return 0;
}

int code_map_create(const struct code_budget *budget, uint64_t *next_number, struct code_map **ret)
{
	CLEANUP(code_map_destroyp) struct code_map *map = NULL;
	int err = map_alloc(budget, next_number, &map);

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
	cow_tree_deinit(&map->waiting);
	code_map_forget_gaps(map, UINT64_MAX);
	vec_deinit(&map->gaps);
	vec_deinit(&map->hit);
	code_usage_put(map->usage);
	free(map);
}

void code_map_set_line_rules(struct code_map *map, const struct code_line_rules *rules)
{
	map->line_rules = rules;
}

/* --- what ends, what is entered -------------------------------------------------- */

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
		removed = cow_tree_remove(&map->methods, code_record_of(hit->value)->method_key);
		space_value_put(removed.value);
	}
	map->hit.size = 0;
	if (map->hit.capacity > HIT_KEEP)
		vec_deinit(&map->hit);
}

int code_map_end_gathered(struct code_map *map, uint64_t time_ns, size_t *ret_ended)
{
	int err = cow_tree_reserve(&map->methods, map->hit.size, 0);

	if (!err)
		err = space_map_end_each(map->space, map->hit.data, map->hit.size, time_ns,
					 ret_ended);
	if (!err)
		unindex_ended(map);
	return err;
}

int code_map_enter(struct code_map *map, struct code_record *record, uint64_t time_ns)
{
	struct code_region *region = &record->region;
	struct cow_item item = {.start = record->method_key,
				.end = record->method_key + 1,
				.from_ns = time_ns,
				.value = &region->value};
	int err = cow_tree_reserve(&map->methods, map->hit.size, 1);

	if (!err)
		err = space_map_insert(map->space, region->address,
				       region->address + region->size_bytes, time_ns,
				       &region->value);
	if (err)
		return err;
	region->number = (*map->next_number)++;
	if (!record->origin)
		record->origin = region->number + 1;
	unindex_ended(map);
	/* One that came too late to be in force is only history. */
	if (is_in_force(map, region->address, &region->value)) {
		space_value_get(item.value);
		cow_tree_insert(&map->methods, &item);
	}
	if (map->newest_ns < time_ns)
		map->newest_ns = time_ns;
	return 0;
}

/* --- loads ------------------------------------------------------------------------ */

/* A key behind those of the same method id; false where there is none left. */
static bool next_key(const struct code_map *map, uint32_t method_id, uint64_t *ret)
{
	const struct cow_item *last = code_method_last(map, method_id);

	*ret = last ? last->start + 1 : code_method_key(method_id, 0);
	return *ret < code_method_key(method_id, UINT32_MAX);
}

/* A region of the method that a load is of, but for those that it overwrites; or NULL. */
static struct code_record *part_of(const struct code_map *map, const struct jit_event *event,
				   uint64_t engine, uint64_t time_ns)
{
	uint64_t start = event->header.address, end = start + event->header.code_bytes;
	uint32_t id = event->header.method_id;
	const struct cow_item *item = code_method_last(map, id);

	for (size_t left = CODE_METHOD_PARTS_MAX; item && left; left--) {
		struct code_record *record = code_record_of(item->value);
		const struct code_region *region = &record->region;
		bool overlaps =
			region->address < end && start < region->address + region->size_bytes;

		if (region->engine == engine && !overlaps && region->loaded_ns <= time_ns)
			return record;
		item = code_method_before(map, id, item->start);
	}
	return NULL;
}

/* What a load that is not kept overwrote has ended nonetheless. */
static int refuse(struct code_map *map, uint64_t time_ns, uint64_t *count)
{
	size_t ended;
	int err = code_map_end_gathered(map, time_ns, &ended);

	if (!err)
		(*count)++;
	return err;
}

static int apply_load(struct code_map *map, const struct jit_event *event, uint64_t engine,
		      uint64_t time_ns)
{
	CLEANUP(code_record_putp) struct code_record *record = NULL;
	uint64_t start = event->header.address, size_bytes = event->header.code_bytes;
	uint64_t key;
	int err;

	if (code_range_is_invalid(start, size_bytes) || !event->header.method_id) {
		map->counts.invalid++;
		return 0;
	}
	err = code_map_gather(map, start, start + size_bytes);
	if (err)
		return err;
	if (code_map_is_in_gap(map, engine, time_ns, event->header.sequence))
		return refuse(map, time_ns, &map->counts.in_gap);
	if (!next_key(map, event->header.method_id, &key))
		return refuse(map, time_ns, &map->counts.over_budget);
	err = code_record_create(event, part_of(map, event, engine, time_ns), map->line_rules,
				 &map->budget, map->usage, &record);
	if (err == -EDQUOT)
		return refuse(map, time_ns, &map->counts.over_budget);
	if (err)
		return err;
	record->region.loaded_ns = time_ns;
	record->region.engine = engine;
	record->method_key = key;
	err = code_map_enter(map, record, time_ns);
	if (err)
		return err;
	map->counts.loads++;
	map->counts.code_bytes += size_bytes;
	code_map_settle(map, start, start + size_bytes, time_ns, true);
	return 0;
}

/* --- changes to a region ------------------------------------------------------------ */

int code_change_begin(struct code_map *map, const struct space_entry *entry, uint64_t time_ns,
		      bool as_new, struct code_change *ret)
{
	struct code_record *record = code_record_of(entry->value);
	struct code_change change = {.record = record};
	int err = 0;

	change.time_ns = time_ns > entry->from_ns ? time_ns : entry->from_ns;
	/* The space map and the index hold it. */
	change.is_new =
		as_new || record->region.value.refs > 2 || record->region.number < map->own_number;
	if (change.is_new)
		err = code_record_copy(record, &map->budget, map->usage, &change.record);
	if (err)
		return err;
	if (!change.record->region.layout)
		err = code_layout_create(&change.record->region.layout);
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
		err = code_map_enter(map, change->record, change->time_ns);
	if (!err)
		code_change_cancel(change); /* the map holds it now */
	return err;
}

void code_change_cancel(struct code_change *change)
{
	if (change->is_new)
		code_record_put(change->record);
	change->is_new = false;
}

/* --- events ------------------------------------------------------------------------- */

static int apply_event(struct code_map *map, const struct jit_event *event, uint64_t engine,
		       uint64_t time_ns)
{
	switch (event->header.event) {
	case JIT_EVENT_LOAD:
	case JIT_EVENT_LOAD_V2:
	case JIT_EVENT_LOAD_V3:
		return apply_load(map, event, engine, time_ns);
	case JIT_EVENT_UNLOAD:
		return code_map_unload(map, event, engine, time_ns);
	case JIT_EVENT_INLINE_LOAD:
		return code_map_inline(map, event, engine, time_ns);
	case JIT_EVENT_UPDATE:
	case JIT_EVENT_UPDATE_V2:
		return code_map_update(map, event, engine, time_ns);
	case JIT_EVENT_SHUTDOWN:
		break;
	case JIT_EVENT_ENTER_NIDS:
	case JIT_EVENT_LEAVE_NIDS:
		map->counts.nothing_to_us++;
		break;
	default:
		map->counts.not_understood++;
	}
	return 0;
}

int code_map_apply(struct code_map *map, const struct jit_event *event, uint64_t engine,
		   uint64_t time_ns)
{
	int err = apply_event(map, event, engine, time_ns);

	if (!err)
		map->counts.unknown_fields += event->unknown_fields;
	return err;
}

const struct code_region *code_map_find(const struct code_map *map, uint64_t address,
					uint64_t time_ns)
{
	const struct code_region *region;
	struct space_entry entry;

	if (!space_map_find(map->space, address, time_ns, &entry))
		return NULL;
	region = &code_record_of(entry.value)->region;
	return code_layout_is_data(region->layout, address) ? NULL : region;
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

	/* Nearly always all of it ends: then there is no need to look at each region. */
	map->hit.size = 0;
	if (map->newest_ns > time_ns)
		err = code_map_gather(map, 0, UINT64_MAX);
	if (!err)
		err = cow_tree_reserve(&map->methods, map->hit.size, 0);
	if (!err)
		err = space_map_clear(map->space, time_ns);
	if (err)
		return err;
	if (map->newest_ns <= time_ns)
		cow_tree_deinit(&map->methods);
	unindex_ended(map);
	cow_tree_deinit(&map->waiting);
	code_map_forget_gaps(map, UINT64_MAX);
	return 0;
}

int code_map_clone(struct code_map *map, struct code_map **ret)
{
	CLEANUP(code_map_destroyp) struct code_map *clone = NULL;
	int err = map_alloc(&map->budget, map->next_number, &clone);

	if (!err)
		err = space_map_clone(map->space, &clone->space);
	if (err)
		return err;
	clone->methods = cow_tree_clone(&map->methods);
	clone->newest_ns = map->newest_ns;
	clone->line_rules = map->line_rules;
	map->own_number = *map->next_number;
	*ret = TAKE_PTR(clone);
	return 0;
}

void code_map_forget(struct code_map *map, uint64_t time_ns)
{
	space_map_forget(map->space, time_ns);
	code_map_forget_waiting(map, time_ns);
	code_map_forget_gaps(map, time_ns);
}

uint64_t code_map_generation(const struct code_map *map)
{
	return space_map_generation(map->space);
}

const struct code_counts *code_map_counts(const struct code_map *map)
{
	return &map->counts;
}
