/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/symbol_ranges.h"

#include <stdlib.h>

#include "base/scope.h"

/* Flags in sort_key.item; the other bits are the symbol's id. */
#define LOCAL	 (1u << 31)
#define UNSIZED	 (1u << 30)
#define ID(item) ((item) & (SYMBOL_IDS_MAX - 1))

int symbol_list_add(symbol_list *list, const struct symbol_span *symbol, uint64_t limit,
		    uint32_t id)
{
	uint64_t extent = symbol->size_bytes ?: limit - symbol->start;
	struct sort_key key = {
		.key = symbol->start,
		.item = id | (symbol->scope == SYMBOL_LOCAL ? LOCAL : 0) |
			(symbol->size_bytes ? 0 : UNSIZED),
		.weight = extent < UINT32_MAX ? (uint32_t)extent : UINT32_MAX,
	};

	return vec_push(list, key);
}

/* A symbol that contains the current address of the sweep, with its aliases of the same range. */
struct open_symbol {
	uint64_t end;
	uint32_t at, count; /* in sweep.keys */
	uint32_t weight;
	bool shown;
};

/*
 * A sweep over all start and end addresses. The open symbols are a stack
 * ordered by start, so the top is the innermost symbol.
 */
struct sweep {
	uint64_t base;
	struct sort_key *keys; /* sorted by start */
	size_t count;
	const struct symbol_reader *reader;
	uint32_t names_left; /* symbols whose names may still be read */
	VEC(struct open_symbol) open;
	VEC(struct open_symbol) aliases; /* symbols that start at the current address */
	symbol_ranges ranges;
	uint32_t shown;	      /* open_symbol.at of the last range; SYMBOL_NONE: it has no symbol */
	uint64_t implied_end; /* where the last range ends by the size of its symbols */
};

static uint64_t key_end(const struct sort_key *key)
{
	return key->key <= UINT64_MAX - key->weight ? key->key + key->weight : UINT64_MAX;
}

/*
 * Returns the end of a range if all its symbols have sizes, else UINT64_MAX. A range whose end is
 * known in this way needs no stored range without a symbol behind it.
 */
static uint64_t implied_end(const struct sweep *sweep, const struct open_symbol *open)
{
	for (uint32_t i = open->at; i < open->at + open->count; i++) {
		if (sweep->keys[i].item & UNSIZED || sweep->keys[i].weight == UINT32_MAX)
			return UINT64_MAX;
	}
	return open->end;
}

/* Move the preferred key of keys[at..at + count) to its front. */
static void choose(struct sweep *sweep, uint32_t at, uint32_t count)
{
	struct symbol_choice choice = {.reader = sweep->reader, .id = SYMBOL_NONE};

	for (uint32_t i = at; i < at + count && sweep->names_left; i++) {
		sweep->names_left--;
		symbol_choice_offer(&choice, ID(sweep->keys[i].item));
	}
	for (uint32_t i = at; i < at + count; i++) {
		if (ID(sweep->keys[i].item) == choice.id)
			sweep->keys[at] = sweep->keys[i];
	}
}

static int add_range(struct sweep *sweep, uint64_t start, uint32_t id)
{
	struct symbol_range range = {.start = (uint32_t)(start - sweep->base), .id = id};

	return start - sweep->base < UINT32_MAX ? vec_push(&sweep->ranges, range) : 0;
}

/* Begin a range at start for the symbol on top of the stack. */
static int sweep_show(struct sweep *sweep, uint64_t start)
{
	struct open_symbol *top = sweep->open.size ? &sweep->open.data[sweep->open.size - 1] : NULL;
	int err = 0;

	if (sweep->shown == (top ? top->at : SYMBOL_NONE))
		return 0;
	sweep->shown = top ? top->at : SYMBOL_NONE;
	if (!top)
		return sweep->implied_end == start ? 0 : add_range(sweep, start, SYMBOL_NONE);
	/* Later ranges of a symbol have no aliases, or the number of ranges would be unbounded. */
	if (top->shown && top->count > 1) {
		choose(sweep, top->at, top->count);
		top->count = 1;
	}
	top->shown = true;
	sweep->implied_end = implied_end(sweep, top);
	for (uint32_t i = 0; i < top->count && !err; i++)
		err = add_range(sweep, start, ID(sweep->keys[top->at + i].item));
	return err;
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
		const struct sort_key *key = &sweep->keys[i];

		if (!(key->item & UNSIZED) && key_end(key) > widest)
			widest = key_end(key);
	}
	if (widest > start || sweep->open.size)
		return widest;
	return after < sweep->count ? sweep->keys[after].key : UINT64_MAX;
}

/* Collect the symbols among keys[first..after) that are not empty. */
static int aliases_gather(struct sweep *sweep, size_t first, size_t after)
{
	uint64_t unsized = unsized_end(sweep, first, after);

	sweep->aliases.size = 0;
	for (size_t i = first; i < after; i++) {
		const struct sort_key *key = &sweep->keys[i];
		uint64_t end = key_end(key);
		struct open_symbol alias = {
			.end = key->item & UNSIZED && end > unsized ? unsized : end,
			.at = (uint32_t)i,
			.count = 1,
		};

		if (alias.end > key->key && vec_push(&sweep->aliases, alias))
			return -ENOMEM;
	}
	return 0;
}

static bool ends_differ(const struct sweep *sweep)
{
	vec_for_each (alias, &sweep->aliases) {
		if (alias->end != sweep->aliases.data[0].end)
			return true;
	}
	return false;
}

/*
 * Join aliases with equal ranges into one open symbol. Local symbols are dropped if there are
 * others.
 */
static void aliases_join(struct sweep *sweep)
{
	struct open_symbol *aliases = sweep->aliases.data, *joined = &aliases[0];
	uint32_t local = LOCAL, at = aliases[0].at, kept = 0;

	vec_for_each (alias, &sweep->aliases)
		local &= sweep->keys[alias->at].item;
	/* No key is overwritten before it is read: alias->at is not below `at + kept`. */
	vec_for_each (alias, &sweep->aliases) {
		if ((sweep->keys[alias->at].item & LOCAL) == local)
			sweep->keys[at + kept++] = sweep->keys[alias->at];
	}
	if (kept > SYMBOL_ALIASES_MAX) {
		choose(sweep, at, kept);
		kept = 1;
	}
	joined->count = kept;
	sweep->aliases.size = 1;
}

/* Order by weight, then by size, descending. Names decide only between equals. */
static int compare_aliases(const void *a_, const void *b_)
{
	const struct open_symbol *a = a_, *b = b_;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->end == b->end ? 0 : a->end > b->end ? -1 : 1;
}

/* Returns the preference for a symbol; without its name once names_left is 0. */
static uint32_t alias_weight(struct sweep *sweep, const struct open_symbol *alias)
{
	uint32_t item = sweep->keys[alias->at].item;
	struct symbol_span span;

	if (!sweep->names_left || !sweep->reader->read(sweep->reader->context, ID(item), &span))
		return (uint32_t) !(item & LOCAL) << 15 | (uint32_t) !(item & UNSIZED) << 10;
	sweep->names_left--;
	return symbol_weight(&span);
}

/* Of two aliases with one weight and range, keep the one whose name is first in the alphabet. */
static void choose_of_two(struct sweep *sweep, struct open_symbol *kept,
			  const struct open_symbol *other)
{
	struct symbol_choice choice = {.reader = sweep->reader, .id = SYMBOL_NONE};

	if (sweep->names_left < 2)
		return;
	sweep->names_left -= 2;
	symbol_choice_offer(&choice, ID(sweep->keys[kept->at].item));
	symbol_choice_offer(&choice, ID(sweep->keys[other->at].item));
	if (choice.id == ID(sweep->keys[other->at].item))
		kept->at = other->at;
}

/*
 * Sort aliases with different ends by preference. Keep the best one, and each alias that ends after
 * all better ones.
 */
static void aliases_rank(struct sweep *sweep)
{
	struct open_symbol *aliases = sweep->aliases.data;
	size_t kept = 0;

	vec_for_each (alias, &sweep->aliases)
		alias->weight = alias_weight(sweep, alias);
	qsort(aliases, sweep->aliases.size, sizeof(*aliases), compare_aliases);
	vec_for_each (alias, &sweep->aliases) {
		struct open_symbol *last = kept ? &aliases[kept - 1] : NULL;

		if (!last || alias->end > last->end)
			aliases[kept++] = *alias;
		else if (!compare_aliases(last, alias))
			choose_of_two(sweep, last, alias);
	}
	sweep->aliases.size = kept;
}

/* Open the aliases that will be visible, the best one on top. */
static int aliases_open(struct sweep *sweep)
{
	struct open_symbol *aliases = sweep->aliases.data;
	size_t left;

	if (ends_differ(sweep))
		aliases_rank(sweep);
	else if (sweep->aliases.size > 1)
		aliases_join(sweep);
	left = sweep->aliases.size;
	if (vec_reserve(&sweep->open, sweep->open.size + left))
		return -ENOMEM;
	while (left)
		sweep->open.data[sweep->open.size++] = aliases[--left];
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
		err = err ?: aliases_gather(sweep, first, after);
		err = err ?: aliases_open(sweep);
		err = err ?: sweep_show(sweep, start);
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

/* Remove the symbols whose start has no 32-bit offset from base. */
static void drop_outside(symbol_list *list, uint64_t base)
{
	size_t kept = 0;

	vec_for_each (key, list) {
		if (key->key - base < UINT32_MAX)
			list->data[kept++] = *key;
	}
	list->size = kept;
}

int symbol_ranges_make(symbol_list *list, uint64_t base, const struct symbol_reader *reader,
		       symbol_ranges *ret)
{
	CLEANUP(sweep_deinit)
	struct sweep sweep = {
		.base = base,
		.reader = reader,
		.names_left = SYMBOL_NAMES_COMPARED_MAX,
		.shown = SYMBOL_NONE,
		.implied_end = UINT64_MAX,
	};
	int err;

	drop_outside(list, base);
	err = sort_keys(list->data, list->size);
	if (err)
		return err;
	sweep.keys = list->data;
	sweep.count = list->size;
	err = vec_reserve(&sweep.ranges, list->size);
	err = err ?: sweep_run(&sweep);
	if (err)
		return err;
	vec_fit(&sweep.ranges);
	*ret = sweep.ranges;
	sweep.ranges = (symbol_ranges){0};
	return 0;
}
