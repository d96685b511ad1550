/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "symbolize/symbol_map.h"
#include "tests/unit/cases.h"

struct made_symbol {
	struct symbol_span span;
	uint64_t limit; /* of an unsized symbol */
};

#define SIZED(at, size, text, kind)                                                                \
	{                                                                                          \
		.span = {(at), (size), (kind), (text) }                                            \
	}
#define GLOBAL(at, size, text) SIZED(at, size, text, SYMBOL_GLOBAL)
#define WEAK(at, size, text)   SIZED(at, size, text, SYMBOL_WEAK)
#define LOCAL(at, size, text)  SIZED(at, size, text, SYMBOL_LOCAL)
#define UNSIZED(at, end, text)                                                                     \
	{                                                                                          \
		.span = {(at), 0, SYMBOL_GLOBAL, (text)}, .limit = (end)                           \
	}

#define SPANS_MAX (SYMBOL_NAMES_COMPARED_MAX + 1000)

static struct symbol_map map;
static struct made_symbol made[SPANS_MAX]; /* indexed by id */
static uint64_t base;
static unsigned reads;

static bool read_made(void *context, uint32_t id, struct symbol_span *ret)
{
	assert_ptr_equal(context, made);
	assert_in_range(id, 0, SPANS_MAX - 1);
	reads++;
	*ret = made[id].span;
	return true;
}

static const struct symbol_reader reader = {.read = read_made, .context = made};

static int setup(void **state)
{
	base = 0;
	return 0;
}

static int teardown(void **state)
{
	symbol_map_deinit(&map);
	return 0;
}

static void make(const struct made_symbol *symbols, uint32_t count)
{
	symbol_list list = {0};

	assert_in_range(count, 1, SPANS_MAX);
	for (uint32_t i = 0; i < count; i++) {
		made[i] = symbols[i];
		assert_int_equal(symbol_list_add(&list, &made[i].span, made[i].limit, i), 0);
	}
	symbol_map_deinit(&map);
	reads = 0;
	assert_int_equal(symbol_map_init(&map, base, &list, &reader), 0);
	vec_deinit(&list);
}

#define MAKE(...)                                                                                  \
	do {                                                                                       \
		struct made_symbol symbols_[] = {__VA_ARGS__};                                     \
		make(symbols_, sizeof(symbols_) / sizeof(symbols_[0]));                            \
	} while (0)

static void assert_at(uint64_t address, const char *name, uint64_t offset)
{
	struct symbol_span found;

	assert_int_equal(symbol_map_find(&map, address, &reader, &found), name != NULL);
	if (!name)
		return;
	assert_string_equal(found.name, name);
	assert_int_equal(address - found.start, offset);
}

CASE_WITH(empty_map_finds_nothing, setup, teardown)
{
	symbol_list none = {0};

	assert_at(0, NULL, 0);
	assert_int_equal(symbol_map_init(&map, 0, &none, &reader), 0);
	assert_at(0, NULL, 0);
	assert_at(UINT64_MAX, NULL, 0);
}

CASE_WITH(names_nothing_between_sized_symbols, setup, teardown)
{
	MAKE(GLOBAL(200, 50, "b"), GLOBAL(100, 50, "a"), GLOBAL(250, 10, "c"));
	assert_at(99, NULL, 0);
	assert_at(100, "a", 0);
	assert_at(149, "a", 49);
	assert_at(150, NULL, 0);
	assert_at(200, "b", 0);
	assert_at(249, "b", 49);
	assert_at(250, "c", 0);
	assert_at(259, "c", 9);
	assert_at(260, NULL, 0);
	assert_at(UINT64_MAX, NULL, 0);
}

CASE_WITH(innermost_wins_and_the_outer_goes_on, setup, teardown)
{
	MAKE(GLOBAL(100, 100, "outer"), LOCAL(120, 20, "inner"), LOCAL(130, 5, "innermost"));
	assert_at(119, "outer", 19);
	assert_at(120, "inner", 0);
	assert_at(130, "innermost", 0);
	assert_at(135, "inner", 15);
	assert_at(140, "outer", 40);
	assert_at(199, "outer", 99);
	assert_at(200, NULL, 0);
}

CASE_WITH(overlapping_symbols_end_where_they_say, setup, teardown)
{
	MAKE(GLOBAL(0, 50, "a"), GLOBAL(40, 60, "b"), GLOBAL(45, 10, "c"), GLOBAL(90, 20, "d"));
	assert_at(39, "a", 39);
	assert_at(44, "b", 4);
	assert_at(45, "c", 0);
	assert_at(55, "b", 15);
	assert_at(89, "b", 49);
	assert_at(105, "d", 15);
	assert_at(110, NULL, 0);
}

CASE_WITH(unsized_symbols_reach_to_the_next, setup, teardown)
{
	MAKE(UNSIZED(10, 1000, "a"), UNSIZED(50, 1000, "b"), GLOBAL(100, 10, "c"),
	     UNSIZED(105, 1000, "label"), UNSIZED(110, 200, "d"), UNSIZED(300, 300, ""),
	     UNSIZED(400, 500, "e"));
	assert_at(9, NULL, 0);
	assert_at(49, "a", 39);
	assert_at(50, "b", 0);
	assert_at(99, "b", 49);
	/* A symbol inside a sized symbol neither ends it nor extends beyond it. */
	assert_at(107, "c", 7);
	assert_at(110, "d", 0);
	assert_at(199, "d", 89);
	assert_at(200, NULL, 0);
	assert_at(300, NULL, 0);
	assert_at(499, "e", 99);
	assert_at(500, NULL, 0);
	MAKE(UNSIZED(10, 1000, "a"), UNSIZED(20, 20, ""), UNSIZED(UINT64_MAX, UINT64_MAX, "z"),
	     UNSIZED(UINT32_MAX, UINT64_MAX, "far"));
	assert_at(19, "a", 9);
	assert_at(20, NULL, 0);
	assert_at(UINT64_MAX, NULL, 0);
}

/* Each alias is preferred to the ones after it, whatever the order of the table. */
CASE_WITH(aliases_are_chosen_as_people_expect, setup, teardown)
{
	static const struct made_symbol aliases[] = {
		GLOBAL(100, 10, "aa"),	GLOBAL(100, 10, "bb"),	GLOBAL(100, 10, "abc"),
		UNSIZED(100, 200, "a"), WEAK(100, 10, "a"),	GLOBAL(100, 10, "_a"),
		WEAK(100, 10, "_a"),	GLOBAL(100, 10, "__a"), LOCAL(100, 10, "a"),
	};
	unsigned count = sizeof(aliases) / sizeof(aliases[0]);
	struct made_symbol turned[sizeof(aliases) / sizeof(aliases[0])];

	for (unsigned best = 0; best < count; best++) {
		for (unsigned turn = best; turn < count; turn++) {
			for (unsigned i = best; i < count; i++)
				turned[i] = aliases[best + (i + turn) % (count - best)];
			make(turned + best, count - best);
			assert_at(105, aliases[best].span.name, 5);
		}
	}
}

CASE_WITH(aliases_of_other_sizes_show_where_they_reach_further, setup, teardown)
{
	MAKE(GLOBAL(100, 10, "best"), GLOBAL(100, 30, "longer_name"), WEAK(100, 20, "hidden"),
	     LOCAL(100, 40, "local"), UNSIZED(100, 1000, "_unsized"));
	assert_at(109, "best", 9);
	assert_at(110, "longer_name", 10);
	assert_at(129, "longer_name", 29);
	/* An unsized alias is as large as the largest alias, and preferred to it. */
	assert_at(130, "_unsized", 30);
	assert_at(139, "_unsized", 39);
	assert_at(140, NULL, 0);
}

CASE_WITH(names_of_any_length_are_compared, setup, teardown)
{
	static char longest[5000], longer[3000];

	memset(longest, 'a', sizeof(longest) - 1);
	memset(longer, 'b', sizeof(longer) - 1);
	MAKE(GLOBAL(0, 10, longest), GLOBAL(0, 10, longer));
	assert_at(0, longest, 0);
	MAKE(GLOBAL(0, 10, longest), GLOBAL(0, 10, "short"), GLOBAL(0, 10, "_"));
	assert_at(0, "short", 0);
}

/* A map covers 4 GB from its base. */
CASE_WITH(addresses_are_relative_to_the_base, setup, teardown)
{
	base = 0xffffffff80000000;
	MAKE(GLOBAL(base - 1, 5, "below"), GLOBAL(base, 5, "first"),
	     GLOBAL(base + 0x7ffffff0, 5, "last"), GLOBAL(0, 5, "zero"));
	assert_at(base - 1, NULL, 0);
	assert_at(base + 4, "first", 4);
	assert_at(base + 5, NULL, 0);
	assert_at(base + 0x7ffffff4, "last", 4);
	assert_at(UINT64_MAX, NULL, 0);
	assert_at(0, NULL, 0);
	base = 0x1000;
	MAKE(GLOBAL(base, 5, "first"), GLOBAL(base + UINT32_MAX, 5, "beyond"),
	     GLOBAL(base + UINT32_MAX - 1, 5, "across"), GLOBAL(base + 10, UINT64_MAX, "endless"));
	assert_at(base + 4, "first", 4);
	assert_at(base + UINT32_MAX - 1, "across", 0);
	assert_at(base + UINT32_MAX + 1ull, "across", 2);
	assert_at(base + 1000, "endless", 990);
}

/* Names are read for ranges that are looked up, and once more for the result. */
CASE_WITH(names_are_read_on_demand, setup, teardown)
{
	MAKE(GLOBAL(0, 10, "a"), GLOBAL(10, 10, "b"), GLOBAL(10, 10, "c"), LOCAL(10, 10, "d"),
	     GLOBAL(12, 2, "inner"));
	/* The range after "inner" has one symbol, which was chosen. */
	assert_int_equal(reads, 2);
	assert_at(5, "a", 5);
	assert_int_equal(reads, 3);
	assert_at(11, "b", 1);
	assert_int_equal(reads, 3 + 3);
	assert_at(15, "b", 5);
	assert_int_equal(reads, 3 + 3 + 1);
	assert_int_equal(map.count, 1 + 2 + 1 + 1);
}

/* Names cost reads, so their number is limited; the symbols still have ranges. */
CASE_WITH(many_aliases_are_resolved_within_a_budget, setup, teardown)
{
	static struct made_symbol many[SPANS_MAX];
	static char texts[SPANS_MAX][8];

	for (unsigned different = 0; different < 2; different++) {
		for (unsigned i = 0; i < SPANS_MAX; i++) {
			snprintf(texts[i], sizeof(texts[i]), "s%06u", SPANS_MAX - i);
			many[i] = (struct made_symbol)GLOBAL(100, 10 + different * i, texts[i]);
		}
		make(many, 1000);
		/* The last one is the first in the alphabet; the largest wins before that. */
		assert_at(105, texts[999], 5);
		assert_int_equal(reads, 1000 + 1);
		assert_int_equal(map.count, 1);
		make(many, SPANS_MAX);
		assert_int_equal(reads, SYMBOL_NAMES_COMPARED_MAX);
		assert_at(105, texts[SYMBOL_NAMES_COMPARED_MAX - 1], 5);
	}
}

/* A model of the header's rules, for names of equal length, address by address. */
static bool shows_before(const struct symbol_span *a, const struct symbol_span *b)
{
	if (a->start != b->start)
		return a->start > b->start;
	if (a->size_bytes != b->size_bytes)
		return a->size_bytes > b->size_bytes;
	return strcmp(a->name, b->name) < 0;
}

static const struct symbol_span *expected_at(const struct made_symbol *symbols, unsigned count,
					     uint64_t address)
{
	const struct symbol_span *best = NULL;

	for (unsigned i = 0; i < count; i++) {
		const struct symbol_span *span = &symbols[i].span;

		if (span->start > address || span->start + span->size_bytes <= address)
			continue;
		if (!best || shows_before(span, best))
			best = span;
	}
	return best;
}

CASE_WITH(agrees_with_the_simple_way, setup, teardown)
{
	enum { COUNT = 40, ADDRESSES = 120 };
	struct made_symbol symbols[COUNT];
	char texts[COUNT][8];

	for (uint64_t round = 0; round < 300; round++) {
		for (unsigned i = 0; i < COUNT; i++) {
			uint64_t random = hash_mix(round, i);
			uint64_t start = random % ADDRESSES;

			snprintf(texts[i], sizeof(texts[i]), "s%02u", i);
			symbols[i] = (struct made_symbol)GLOBAL(start, 1 + (random >> 20) % 30,
								texts[i]);
		}
		make(symbols, COUNT);
		for (uint64_t address = 0; address < ADDRESSES + 40; address++) {
			const struct symbol_span *span = expected_at(symbols, COUNT, address);

			assert_at(address, span ? span->name : NULL,
				  span ? address - span->start : 0);
		}
	}
}
