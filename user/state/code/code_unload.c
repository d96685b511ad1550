/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "state/code/code_methods.h"

/* Returns true if an indexed region was in force at a time. */
static bool in_force_at(const struct code_map *map, const struct cow_item *item, uint64_t time_ns)
{
	struct space_entry entry;

	return space_map_next(map->space, code_record_of(item->value)->region.address, &entry) &&
	       entry.value == item->value && entry.from_ns <= time_ns;
}

/*
 * Choose the engine whose regions an unload ends: the event's own, if it has regions of the id;
 * else that of the latest region of the id which can be the engine's own.
 */
static bool choose_engine(const struct code_map *map, uint64_t id, const struct code_origin *origin,
			  uint64_t time_ns, uint64_t *ret)
{
	const struct cow_item *item = code_method_last(map, id);
	bool any = false;

	for (size_t left = CODE_METHOD_REGIONS_MAX; item && left; left--) {
		const struct code_claim *claim = code_method_claim(item, id, origin->publisher);

		if (!claim || !in_force_at(map, item, time_ns))
			claim = NULL;
		if (claim && claim->origin.engine == origin->engine) {
			*ret = origin->engine;
			return true;
		}
		if (claim && !any && code_origin_can_be(&claim->origin, origin)) {
			*ret = claim->origin.engine;
			any = true;
		}
		item = code_method_before(map, id, item->start);
	}
	return any;
}

bool code_map_has_method(const struct code_map *map, uint64_t method_id,
			 const struct code_origin *origin, uint64_t time_ns)
{
	uint64_t chosen;

	return choose_engine(map, method_id, origin, time_ns, &chosen) && chosen == origin->engine;
}

static int gather_method(struct code_map *map, const struct code_event *event)
{
	uint64_t id = event->method_id, engine;
	const struct cow_item *item = code_method_last(map, id);
	int err = 0;

	map->hit.size = 0;
	if (!choose_engine(map, id, &event->origin, event->time_ns, &engine))
		return 0;
	for (size_t left = CODE_METHOD_REGIONS_MAX; !err && item && left; left--) {
		const struct code_region *region = &code_record_of(item->value)->region;
		const struct code_claim *claim =
			code_method_claim(item, id, event->origin.publisher);

		if (claim && claim->origin.engine == engine)
			err = vec_push(&map->hit,
				       ((struct space_key){region->address, item->value}));
		item = code_method_before(map, id, item->start);
	}
	return err;
}

int code_map_gather_starting(struct code_map *map, uint64_t start, uint64_t end)
{
	int err = code_map_gather(map, start, end);

	if (!err && map->hit.size && map->hit.data[0].start < start) {
		map->hit.size--;
		memmove(map->hit.data, map->hit.data + 1, map->hit.size * sizeof(*map->hit.data));
	}
	return err;
}

static int gather_starting_in(struct code_map *map, uint64_t start, uint64_t size_bytes)
{
	uint64_t end = start + (size_bytes ? size_bytes : 1);

	return code_map_gather_starting(map, start, end > start ? end : UINT64_MAX);
}

int code_map_unload(struct code_map *map, struct code_account *account,
		    const struct code_event *event)
{
	int err, unregistered = 0;
	size_t ended;

	if (event->method_id)
		err = gather_method(map, event);
	else
		err = gather_starting_in(map, event->address, event->size_bytes);
	if (!err && event->method_id && !map->hit.size)
		unregistered = code_map_unregister(map, event);
	err = err ?: code_map_end_gathered(map, event->time_ns, &ended);
	if (err || unregistered < 0)
		return err ?: unregistered;
	if (ended || unregistered)
		account->counts.unloads++;
	else
		account->counts.unload_unknown++;
	return 0;
}

static int end_starting_at(struct code_map *map, uint64_t start, uint64_t time_ns,
			   size_t *ret_ended)
{
	return gather_starting_in(map, start, 1) ?: code_map_end_gathered(map, time_ns, ret_ended);
}

int code_map_end_replaced(struct code_map *map, struct code_account *account,
			  const struct code_event *event)
{
	const struct code_region *region = code_map_next(map, event->address);
	size_t ended;
	int err;

	if (!region || region->address != event->address || region->size_bytes != event->size_bytes)
		return 0;
	err = end_starting_at(map, event->address, event->time_ns, &ended);
	/*
	 * A verdict comes before any other event that ends its region. So a newer region is the
	 * same code, from a snapshot that was made after the code was replaced.
	 */
	if (!err && !ended)
		err = end_starting_at(map, event->address, region->loaded_ns, &ended);
	if (!err && event->flags & JITBPF_EVENT_UNCHECKED)
		account->counts.unchecked += ended;
	else if (!err)
		account->counts.replaced += ended;
	return err;
}
