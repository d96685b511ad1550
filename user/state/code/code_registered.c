/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Methods without code. A load without an address registers a method. The method's first region
 * takes the strings of the registration, and ends it. The index has the same keys as that of the
 * regions (code_methods.h); a value is a record without a range.
 */
#include <errno.h>

#include "state/code/code_methods.h"

/* The number of registrations of an id that are examined, latest first. */
#define EXAMINED_MAX 64

static const struct cow_item *last_below(const struct code_map *map, uint64_t id, uint64_t key)
{
	const struct cow_item *item = NULL;

	if (key > code_method_key(id, 0))
		item = cow_tree_last(&map->registered, key - 1);
	return item && item->start >= code_method_key(id, 0) ? item : NULL;
}

/*
 * Returns the latest registration that can be of the origin's engine; with `exactly`, of just this
 * engine.
 */
static const struct cow_item *find(const struct code_map *map, uint64_t id,
				   const struct code_origin *origin, uint64_t time_ns, bool exactly)
{
	const struct cow_item *item = last_below(map, id, code_method_key(id, UINT32_MAX));

	for (int left = EXAMINED_MAX; item && left; left--) {
		const struct code_claim *claim = &code_record_of(item->value)->own_claim;

		if (claim->method_id == id && item->from_ns <= time_ns &&
		    code_origin_can_be(origin, &claim->origin) &&
		    (!exactly || claim->origin.engine == origin->engine))
			return item;
		item = last_below(map, id, item->start);
	}
	return NULL;
}

struct code_record *code_map_registered(const struct code_map *map, const struct code_event *event)
{
	const struct cow_item *item = NULL;

	if (map->registered.size && event->method_id)
		item = find(map, event->method_id, &event->origin, event->time_ns, true);
	return item ? code_record_of(item->value) : NULL;
}

static void drop(struct code_map *map, uint64_t key)
{
	struct cow_item removed = cow_tree_remove(&map->registered, key);

	space_value_put(removed.value);
}

int code_map_unregister(struct code_map *map, const struct code_event *event)
{
	const struct cow_item *item = NULL;

	if (map->registered.size)
		item = find(map, event->method_id, &event->origin, event->time_ns, false);
	if (!item)
		return 0;
	if (cow_tree_reserve(&map->registered, 1, 0))
		return -ENOMEM;
	drop(map, item->start);
	return 1;
}

static int insert(struct code_map *map, struct code_record *record, uint64_t time_ns)
{
	uint64_t id = record->own_claim.method_id;
	const struct cow_item *last = last_below(map, id, code_method_key(id, UINT32_MAX));
	uint64_t key = last ? last->start + 1 : code_method_key(id, 0);
	struct cow_item item = {
		.start = key,
		.end = key + 1,
		.from_ns = time_ns,
		.value = &record->region.value,
	};

	if (key >= code_method_key(id, UINT32_MAX))
		return -EDQUOT;
	if (cow_tree_reserve(&map->registered, 0, 1))
		return -ENOMEM;
	record->region.number = *map->next_number;
	space_value_get(item.value);
	cow_tree_insert(&map->registered, &item);
	return 0;
}

int code_map_register(struct code_map *map, struct code_account *account,
		      const struct code_event *event)
{
	CLEANUP(code_record_putp) struct code_record *record = NULL;
	struct code_event plain = *event;
	int err = 0;

	plain.size_bytes = plain.line_count = plain.scope_bytes = 0;
	if (code_map_is_in_gap(map, &event->origin, event->time_ns)) {
		account->counts.in_gap++;
		return 0;
	}
	/* The first report of a method counts. The shim drops strings if its journal is full. */
	if (code_string_bytes(&event->name) && !code_map_registered(map, event) &&
	    !code_map_first_part(map, &plain, event->time_ns)) {
		err = code_record_create(&plain, NULL, 0, map->line_rules, account, &record);
		err = err ?: insert(map, record, event->time_ns);
	}
	if (err == -ENOMEM)
		return err;
	if (err)
		code_account_count_refused(account);
	else
		account->counts.nothing++;
	return 0;
}

int code_map_sift_registered(struct code_map *map, const struct code_gap *gap)
{
	const struct cow_item *item;

	for (uint64_t at = 0; (item = cow_tree_next(&map->registered, at));) {
		const struct code_record *record = code_record_of(item->value);
		bool inherited = record->region.number < map->first_number;

		at = item->end;
		if (item->from_ns > gap->to_ns ||
		    !(inherited || code_gap_ends(gap, &record->own_claim.origin)))
			continue;
		if (cow_tree_reserve(&map->registered, 1, 0))
			return -ENOMEM;
		drop(map, at - 1);
	}
	return 0;
}

struct registered_visit {
	int (*fn)(void *context, const struct code_region *region);
	void *context;
};

static int visit_registered(void *context, const struct cow_item *item)
{
	const struct registered_visit *visit = context;

	return visit->fn(visit->context, &code_record_of(item->value)->region);
}

int code_map_for_each_registered(const struct code_map *map,
				 int (*fn)(void *context, const struct code_region *region),
				 void *context)
{
	struct registered_visit visit = {.fn = fn, .context = context};

	return cow_tree_for_each(&map->registered, visit_registered, &visit);
}
