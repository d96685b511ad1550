/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The look-ups of a space map. */
#include "state/space/space_map_state.h"

bool space_map_find(const struct space_map *map, uint64_t address, uint64_t time_ns,
		    struct space_entry *ret)
{
	const struct cow_item *item;
	const struct space_entry *entry;

	/* Most frames are outside all JIT code; for these, the history is not searched. */
	if (address < map->lowest || address >= map->highest)
		return false;
	item = cow_tree_next(&map->tree, address);
	if (item && item->start <= address && item->from_ns <= time_ns) {
		*ret = space_entry_of(item);
		return true;
	}
	entry = space_history_find(&map->history, address, time_ns);
	if (entry)
		*ret = *entry;
	return entry;
}

bool space_map_has_ended_since(const struct space_map *map, uint64_t time_ns)
{
	size_t size = space_history_size(&map->history);

	return size && space_history_at(&map->history, size - 1)->to_ns > time_ns;
}

bool space_map_find_from(const struct space_map *map, uint64_t address, uint64_t time_ns,
			 struct space_entry *ret)
{
	struct space_entry first = {.from_ns = UINT64_MAX};
	const struct cow_item *item = cow_tree_next(&map->tree, address);

	if (item && item->start <= address && item->from_ns >= time_ns)
		first = space_entry_of(item);
	for (size_t i = space_history_size(&map->history); i--;) {
		const struct space_entry *past = space_history_at(&map->history, i);

		if (past->to_ns <= time_ns)
			break;
		if (past->start <= address && address < past->end && past->from_ns >= time_ns &&
		    past->from_ns < first.from_ns)
			first = *past;
	}
	if (first.from_ns == UINT64_MAX)
		return false;
	*ret = first;
	return true;
}

uint64_t space_map_free_since(const struct space_map *map, uint64_t start, uint64_t end,
			      uint64_t time_ns, uint64_t floor_ns)
{
	const struct cow_item *item;

	time_ns = space_map_within_reach(map, time_ns);
	floor_ns = space_map_within_reach(map,
					  floor_ns > map->cleared_ns ? floor_ns : map->cleared_ns);
	for (item = cow_tree_next(&map->tree, start); item && item->start < end;
	     item = cow_tree_next(&map->tree, item->end)) {
		if (item->from_ns <= time_ns)
			return time_ns;
	}
	for (size_t i = space_history_size(&map->history); i--;) {
		const struct space_entry *entry = space_history_at(&map->history, i);

		if (entry->to_ns <= floor_ns)
			break;
		if (entry->start < end && start < entry->end && entry->from_ns <= time_ns)
			return entry->to_ns < time_ns ? entry->to_ns : time_ns;
	}
	return floor_ns < time_ns ? floor_ns : time_ns;
}

int space_map_for_each_past(const struct space_map *map,
			    int (*fn)(void *context, const struct space_entry *entry),
			    void *context)
{
	size_t size = space_history_size(&map->history);

	for (size_t i = 0; i < size && i < SPACE_LATE_MAX; i++) {
		int result = fn(context, space_history_at(&map->history, size - 1 - i));

		if (result)
			return result;
	}
	return 0;
}

bool space_map_next(const struct space_map *map, uint64_t address, struct space_entry *ret)
{
	const struct cow_item *item = cow_tree_next(&map->tree, address);

	if (item)
		*ret = space_entry_of(item);
	return item;
}

uint64_t space_map_generation(const struct space_map *map)
{
	return map->generation;
}

size_t space_map_size(const struct space_map *map)
{
	return map->tree.size;
}

size_t space_map_history(const struct space_map *map)
{
	return space_history_size(&map->history);
}

struct visit {
	int (*fn)(void *context, const struct space_entry *entry);
	void *context;
};

static int visit_item(void *context, const struct cow_item *item)
{
	const struct visit *visit = context;
	struct space_entry entry = space_entry_of(item);

	return visit->fn(visit->context, &entry);
}

int space_map_for_each(const struct space_map *map,
		       int (*fn)(void *context, const struct space_entry *entry), void *context)
{
	struct visit visit = {.fn = fn, .context = context};

	return cow_tree_for_each(&map->tree, visit_item, &visit);
}
