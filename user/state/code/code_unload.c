/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "state/code/code_methods.h"

/*
 * Whose regions of a method id an unload means: the engine's own, else those of
 * the latest one that it can be.
 */
static bool choose_engine(const struct code_map *map, uint32_t id, uint64_t engine,
			  uint64_t time_ns, uint64_t *ret)
{
	const struct cow_item *item = code_method_last(map, id);
	bool any = false;

	for (size_t left = CODE_METHOD_REGIONS_MAX; item && left; left--) {
		const struct code_region *region = &code_record_of(item->value)->region;

		if (item->from_ns <= time_ns && region->engine == engine) {
			*ret = engine;
			return true;
		}
		if (item->from_ns <= time_ns && !any &&
		    code_engine_can_be(region->engine, engine)) {
			*ret = region->engine;
			any = true;
		}
		item = code_method_before(map, id, item->start);
	}
	return any;
}

bool code_map_has_method(const struct code_map *map, uint32_t method_id, uint64_t engine,
			 uint64_t time_ns)
{
	uint64_t chosen;

	return choose_engine(map, method_id, engine, time_ns, &chosen) && chosen == engine;
}

static int gather_method(struct code_map *map, uint32_t id, uint64_t engine, uint64_t time_ns)
{
	const struct cow_item *item = code_method_last(map, id);
	int err = 0;

	map->hit.size = 0;
	if (!choose_engine(map, id, engine, time_ns, &engine))
		return 0;
	for (size_t left = CODE_METHOD_REGIONS_MAX; !err && item && left; left--) {
		const struct code_region *region = &code_record_of(item->value)->region;

		if (region->engine == engine)
			err = vec_push(&map->hit,
				       ((struct space_key){region->address, item->value}));
		item = code_method_before(map, id, item->start);
	}
	return err;
}

static int gather_starting_in(struct code_map *map, uint64_t start, uint64_t size_bytes)
{
	uint64_t end = start + (size_bytes ? size_bytes : 1);
	int err = code_map_gather(map, start, end > start ? end : UINT64_MAX);

	if (!err && map->hit.size && map->hit.data[0].start < start) {
		map->hit.size--;
		memmove(map->hit.data, map->hit.data + 1, map->hit.size * sizeof(*map->hit.data));
	}
	return err;
}

int code_map_unload(struct code_map *map, const struct jit_event *event, uint64_t engine,
		    uint64_t time_ns)
{
	size_t ended;
	int err;

	if (event->header.method_id)
		err = gather_method(map, event->header.method_id, engine, time_ns);
	else
		err = gather_starting_in(map, event->header.address, event->header.code_bytes);
	if (!err)
		err = code_map_end_gathered(map, time_ns, &ended);
	if (err)
		return err;
	if (ended)
		map->counts.unloads++;
	else
		map->counts.unload_unknown++;
	return 0;
}
