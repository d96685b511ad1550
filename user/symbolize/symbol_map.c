/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/symbol_map.h"

#include <string.h>

#include "base/scope.h"
#include "base/search.h"
#include "base/sort_keys.h"
#include "base/vec.h"

#define NONE UINT32_MAX

/* Limit for comparing names, whose length is not bounded. */
#define NAME_COMPARED_MAX 1023

/* A symbol that contains the current address of the sweep. */
struct open_symbol {
	uint64_t end;
	uint32_t span;
	uint32_t weight;
	uint32_t first; /* index of the range at its start */
};

/*
 * A sweep over all start and end addresses. The open symbols are a stack
 * ordered by start, so the top is the innermost symbol.
 */
struct sweep {
	const struct symbol_span *spans;
	const struct sort_key *keys; /* sorted by start */
	size_t count;
	VEC(struct open_symbol) open;
	VEC(struct open_symbol) aliases; /* symbols that start at the current address */
	VEC(struct symbol_range) ranges;
	uint32_t shown; /* span of the last range in `ranges` */
};

/* Returns the preference for a name as a number; larger is better. */
static uint32_t symbol_weight(const struct symbol_span *span)
{
	uint32_t length = (uint32_t)strnlen(span->name, NAME_COMPARED_MAX);
	uint32_t underscores = 0;

	while (underscores < 7 && span->name[underscores] == '_')
		underscores++;
	return (uint32_t)(span->scope != SYMBOL_LOCAL) << 15 | (7 - underscores) << 12 |
	       (uint32_t)(span->scope == SYMBOL_GLOBAL) << 11 | (uint32_t)span->sized << 10 |
	       (NAME_COMPARED_MAX - length);
}

/* Begin a range at start for the symbol on top of the stack. */
static int sweep_show(struct sweep *sweep, uint64_t start)
{
	const struct open_symbol *top =
		sweep->open.size ? &sweep->open.data[sweep->open.size - 1] : NULL;
	struct symbol_range range = {.start = start, .id = NONE};
	uint32_t span = top ? top->span : NONE;

	if (span == sweep->shown)
		return 0;
	sweep->shown = span;
	if (top) {
		range.id = sweep->spans[span].id;
		range.first = top->first;
	}
	return vec_push(&sweep->ranges, range);
}

/* Close symbols that end at or before address, in order of their ends. */
static int sweep_close(struct sweep *sweep, uint64_t address)
{
	while (sweep->open.size) {
		uint64_t end = sweep->open.data[sweep->open.size - 1].end;
		int err;

		if (end > address)
			return 0;
		/* Symbols further down may have ended earlier, hidden by this one. */
		while (sweep->open.size && sweep->open.data[sweep->open.size - 1].end <= end)
			sweep->open.size--;
		/* The range at address itself depends on symbols that start there. */
		if (end == address)
			return 0;
		err = sweep_show(sweep, end);
		if (err)
			return err;
	}
	return 0;
}

/*
 * Returns the end of the unsized symbols among keys[first..after). It is the
 * end of the largest sized symbol there, or else the start of the next symbol.
 * Inside another symbol it is the start itself.
 */
static uint64_t unsized_end(const struct sweep *sweep, size_t first, size_t after)
{
	uint64_t start = sweep->keys[first].key, widest = start;

	for (size_t i = first; i < after; i++) {
		const struct symbol_span *span = &sweep->spans[sweep->keys[i].item];

		if (span->sized && span->end > widest)
			widest = span->end;
	}
	if (widest > start || sweep->open.size)
		return widest;
	return after < sweep->count ? sweep->keys[after].key : UINT64_MAX;
}

/* Order by weight, then by size, descending. Names decide only between equals. */
static int compare_aliases(const void *a_, const void *b_)
{
	const struct open_symbol *a = a_, *b = b_;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->end == b->end ? 0 : a->end > b->end ? -1 : 1;
}

static int aliases_gather(struct sweep *sweep, size_t first, size_t after)
{
	uint64_t end = unsized_end(sweep, first, after);

	sweep->aliases.size = 0;
	for (size_t i = first; i < after; i++) {
		const struct symbol_span *span = &sweep->spans[sweep->keys[i].item];
		struct open_symbol alias = {
			.end = span->sized || span->end < end ? span->end : end,
			.span = sweep->keys[i].item,
			.weight = sweep->keys[i].weight,
		};

		if (alias.end > span->start && vec_push(&sweep->aliases, alias))
			return -ENOMEM;
	}
	if (sweep->aliases.size > 1)
		qsort(sweep->aliases.data, sweep->aliases.size, sizeof(*sweep->aliases.data),
		      compare_aliases);
	return 0;
}

/*
 * Open the aliases that will be visible: the best one, and each other that
 * extends further than all better ones. The best one goes on top.
 */
static int aliases_open(struct sweep *sweep)
{
	struct open_symbol *aliases = sweep->aliases.data;
	size_t kept = 0;

	for (size_t i = 0; i < sweep->aliases.size; i++) {
		struct open_symbol *last = kept ? &aliases[kept - 1] : NULL;
		const char *name = sweep->spans[aliases[i].span].name;

		if (!last || aliases[i].end > last->end)
			aliases[kept++] = aliases[i];
		else if (!compare_aliases(last, &aliases[i]) &&
			 strncmp(name, sweep->spans[last->span].name, NAME_COMPARED_MAX) < 0)
			last->span = aliases[i].span;
	}
	if (vec_reserve(&sweep->open, sweep->open.size + kept))
		return -ENOMEM;
	while (kept) {
		/* The range that sweep_show() adds next is the first of the best one. */
		aliases[--kept].first = (uint32_t)sweep->ranges.size;
		sweep->open.data[sweep->open.size++] = aliases[kept];
	}
	return 0;
}

static int sweep_run(struct sweep *sweep)
{
	size_t after;
	int err;

	for (size_t first = 0; first < sweep->count; first = after) {
		uint64_t start = sweep->keys[first].key;

		after = first + 1;
		while (after < sweep->count && sweep->keys[after].key == start)
			after++;
		err = sweep_close(sweep, start);
		if (!err)
			err = aliases_gather(sweep, first, after);
		if (!err)
			err = aliases_open(sweep);
		if (!err)
			err = sweep_show(sweep, start);
		if (err)
			return err;
	}
	return sweep_close(sweep, UINT64_MAX);
}

static void sweep_deinit(struct sweep *sweep)
{
	vec_deinit(&sweep->open);
	vec_deinit(&sweep->aliases);
	vec_deinit(&sweep->ranges);
}

int symbol_map_init(struct symbol_map *ret, const struct symbol_span *spans, size_t count)
{
	CLEANUP(sweep_deinit) struct sweep sweep = {.spans = spans, .count = count, .shown = NONE};
	AUTO_FREE struct sort_key *keys = calloc(count ? count : 1, sizeof(*keys));
	int err;

	if (count >= NONE / 2)
		return -E2BIG;
	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		keys[i] = (struct sort_key){spans[i].start, (uint32_t)i, symbol_weight(&spans[i])};
	err = sort_keys(keys, count);
	if (err)
		return err;
	sweep.keys = keys;
	err = sweep_run(&sweep);
	if (err)
		return err;
	vec_fit(&sweep.ranges);
	*ret = (struct symbol_map){
		.ranges = TAKE_PTR(sweep.ranges.data),
		.count = sweep.ranges.size,
	};
	return 0;
}

void symbol_map_deinit(struct symbol_map *map)
{
	free(map->ranges);
	*map = (struct symbol_map){0};
}

bool symbol_map_find(const struct symbol_map *map, uint64_t address, uint32_t *ret_id,
		     uint64_t *ret_offset)
{
	const struct symbol_range *ranges = map->ranges;
	size_t after = partition_point(0, map->count, i, ranges[i].start <= address);

	if (!after || ranges[after - 1].id == NONE)
		return false;
	*ret_id = ranges[after - 1].id;
	*ret_offset = address - ranges[ranges[after - 1].first].start;
	return true;
}
