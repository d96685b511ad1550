/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/symbol_map.h"

#include <stdlib.h>

#include "base/search.h"

int symbol_map_init(struct symbol_map *ret, uint64_t base, symbol_list *list,
		    const struct symbol_reader *reader)
{
	symbol_ranges ranges;
	int err = symbol_ranges_make(list, base, reader, &ranges);

	if (!err)
		*ret = (struct symbol_map){base, ranges.data, ranges.size};
	return err;
}

void symbol_map_deinit(struct symbol_map *map)
{
	free(map->ranges);
	*map = (struct symbol_map){0};
}

/* Returns the id of the preferred symbol of the ranges that start where range `last` does. */
static uint32_t preferred(const struct symbol_map *map, size_t last,
			  const struct symbol_reader *reader)
{
	struct symbol_choice choice = {.reader = reader, .id = SYMBOL_NONE};
	size_t first = last;

	while (first && map->ranges[first - 1].start == map->ranges[last].start)
		first--;
	if (first == last)
		return map->ranges[last].id;
	for (size_t i = first; i <= last; i++)
		symbol_choice_offer(&choice, map->ranges[i].id);
	return choice.id;
}

bool symbol_map_find(const struct symbol_map *map, uint64_t address,
		     const struct symbol_reader *reader, struct symbol_span *ret)
{
	const struct symbol_range *ranges = map->ranges;
	struct symbol_span span;
	uint64_t relative = address - map->base;
	size_t after;
	uint32_t id;

	if (address < map->base)
		return false;
	after = partition_point(0, map->count, i, ranges[i].start <= relative);
	if (!after)
		return false;
	id = preferred(map, after - 1, reader);
	if (id == SYMBOL_NONE || !reader->read(reader->context, id, &span) ||
	    address < span.start || (span.size_bytes && address - span.start >= span.size_bytes))
		return false;
	span.id = id;
	*ret = span;
	return true;
}

uint64_t symbol_map_next(const struct symbol_map *map, uint64_t address)
{
	const struct symbol_range *ranges = map->ranges;
	uint64_t relative = address < map->base ? 0 : address - map->base;
	size_t after;

	if (address < map->base)
		return map->count ? map->base + ranges[0].start : UINT64_MAX;
	after = partition_point(0, map->count, i, ranges[i].start <= relative);
	return after < map->count ? map->base + ranges[after].start : UINT64_MAX;
}
