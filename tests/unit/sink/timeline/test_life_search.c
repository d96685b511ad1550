/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/sink/made_lives.h"

#include <errno.h>
#include <stdio.h>

#include "base/scope.h"
#include "sink/timeline/life_search.h"
#include "tests/unit/cases.h"

static const struct lives_wanted all = {.to_ns = UINT64_MAX};

/* Returns the result of a search in steps of `max` items. */
static int search_all(struct made_lives *m, const struct lives_wanted *wanted, uint32_t max,
		      struct life_list *ret)
{
	CLEANUP(life_search_deinit) struct life_search search = {0};
	int state = life_search_begin(&search, &m->made.view, wanted), steps = 0;

	while (!state && (state = life_search_step(&search, &m->made.view, &m->lives, max)) > 0) {
		assert_true(++steps < 100000);
		state = 0;
	}
	return state ?: life_search_result(&search, &m->made.view, &m->lives, ret);
}

/* Compare the names of a list with a text like "hot large". */
static void expect(const struct life_list *list, const char *expected)
{
	char said[256] = "";

	vec_for_each (life, &list->lives)
		snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s%s", *said ? " " : "",
			 string_pool_get(list->strings, life->name));
	assert_string_equal(said, expected);
}

CASE(lives_of_a_range)
{
	CLEANUP(made_lives_deinit) struct made_lives m;

	made_lives_init(&m);
	made_life(&m, 1, 0, 64, "before");
	made_life(&m, 2, MADE_START_NS + 100, 32, "ended");
	made_life_take(&m, MADE_START_NS + 250, true);
	made_life(&m, 3, MADE_START_NS + 199, 16, "early");
	made_life(&m, 4, MADE_START_NS + 200, 8, "first");
	made_life(&m, 5, MADE_START_NS + 300, 4, "late");
	made_life(&m, 6, MADE_START_NS - 200, 128, "epoch_before");
	made_life_take(&m, MADE_START_NS - 100, true);
	for (uint32_t max = 1; max < 20; max += 6) {
		CLEANUP(life_list_deinit) struct life_list some = {0}, none = {0}, every = {0};
		const struct lives_wanted range = {.from_ns = 200, .to_ns = 300};
		const struct lives_wanted reversed = {.from_ns = 300, .to_ns = 200};

		assert_int_equal(search_all(&m, &range, max, &some), 0);
		expect(&some, "ended first");
		assert_int_equal(some.lives.data[0].ended_ns, MADE_START_NS + 250);
		assert_int_equal(some.lives.data[0].pid, 100);
		assert_int_equal(some.start_ns, MADE_START_NS);
		assert_int_equal(search_all(&m, &reversed, max, &none), 0);
		assert_int_equal(none.lives.size, 0);
		/* What was there before, and did not end, is in no range. */
		assert_int_equal(search_all(&m, &all, max, &every), 0);
		expect(&every, "ended early first late");
	}
}

/* All lives of the epoch, whatever the range is; the order is that of samples and bytes. */
CASE(lives_of_a_method)
{
	CLEANUP(made_lives_deinit) struct made_lives m;
	CLEANUP(life_list_deinit) struct life_list list = {0}, other = {0};

	made_lives_init(&m);
	made_life(&m, 1, 0, 64, "hot");
	made_life(&m, 2, MADE_START_NS + 100, 32, "cold");
	made_life(&m, 3, MADE_START_NS + 200, 128, "hot");
	assert_int_equal(search_all(&m, &(struct lives_wanted){.method = 1}, 1, &list), 0);
	expect(&list, "hot hot");
	assert_int_equal(list.lives.data[0].number, 3);
	assert_int_equal(list.lives.data[1].loaded_ns, 0);
	assert_int_equal(search_all(&m, &(struct lives_wanted){.method = 2}, 1, &other), 0);
	expect(&other, "cold");
}

CASE(samples_are_those_of_the_tree)
{
	CLEANUP(made_lives_deinit) struct made_lives m;
	uint32_t hot, native;

	made_lives_init(&m);
	made_life(&m, 1, MADE_START_NS, 1000, "large");
	made_life(&m, 2, MADE_START_NS + 5, 8, "hot");
	made_life_sample(&m, 7, "Engine::hot", "eng");
	hot = (uint32_t)m.made.locations.locations.size - 1;
	native = made_named(&m.made, LOCATION_NATIVE, 0x10, "memcpy", "/lib/libc.so");
	made_stack(&m.made, 1, "engine", 2, STACK(hot, native));
	made_stack(&m.made, 1, "engine", 30, STACK(native, hot));
	for (uint32_t max = 1; max < 20; max += 6) {
		CLEANUP(life_list_deinit) struct life_list list = {0};

		/* Also code that the view hides below the function of the runtime that it ran for.
		 */
		m.made.locations.locations.data[hot].is_interpreter = max > 1;
		m.made.locations.interpreters = max > 1;
		assert_int_equal(search_all(&m, &all, max, &list), 0);
		assert_int_equal(list.total, 39);
		expect(&list, "Engine::hot large");
		assert_int_equal(list.lives.data[0].samples, 9);
		assert_true(list.lives.data[0].framed);
		assert_string_equal(string_pool_get(list.strings, list.lives.data[0].module),
				    "eng");
		assert_int_equal(list.lives.data[1].samples, 0);
		assert_false(list.lives.data[1].framed);
	}
}

/* New nodes count until their step is over, and new lives; the search ends in any case. */
CASE(the_profile_may_grow)
{
	CLEANUP(made_lives_deinit) struct made_lives m;
	CLEANUP(life_search_deinit) struct life_search search = {0};
	CLEANUP(life_list_deinit) struct life_list list = {0};
	uint64_t identity = 2;
	int step, steps = 0;

	made_lives_init(&m);
	made_life(&m, 1, MADE_START_NS, 8, "hot");
	made_life_sample(&m, 7, "hot", "");
	assert_int_equal(life_search_begin(&search, &m.made.view, &all), 0);
	while ((step = life_search_step(&search, &m.made.view, &m.lives, 2)) > 0) {
		struct code_record *record = malloc(sizeof(*record));

		assert_true(++steps < 1000);
		*record = m.record; /* of the location that there is */
		made_named(&m.made, LOCATION_NATIVE, identity, "native", "/bin/prog");
		if (identity < 100) {
			m.record.region.size_bytes = 4;
			code_lives_take(&m.lives,
					&(struct sink_region){.time_ns = MADE_START_NS + identity,
							      .region = &m.record.region,
							      .process = 1,
							      .comm = "engine"});
		}
		m.record = *record;
		identity++;
		free(record);
	}
	assert_int_equal(step, 0);
	assert_int_equal(life_search_result(&search, &m.made.view, &m.lives, &list), 0);
	assert_int_equal(list.lives.data[0].samples, 7);
}

/* Numbers are a browser's: of no life, or of another epoch. */
CASE(any_number_is_allowed)
{
	static const uint32_t numbers[] = {2, 77, UINT32_MAX, 1u << 31, (1u << 31) + 1};
	CLEANUP(made_lives_deinit) struct made_lives m;
	CLEANUP(life_search_deinit) struct life_search search = {0};
	CLEANUP(life_list_deinit) struct life_list list = {0}, none = {0};

	made_lives_init(&m);
	assert_int_equal(search_all(&m, &(struct lives_wanted){.method = 1}, 1, &list), -ENOENT);
	assert_int_equal(search_all(&m, &all, 1, &none), 0); /* no lives, no samples */
	assert_int_equal(none.lives.size, 0);
	made_life(&m, 1, MADE_START_NS, 8, "one");
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		assert_int_equal(
			search_all(&m, &(struct lives_wanted){.method = numbers[i]}, 1, &list),
			-ENOENT);
	assert_int_equal(search_all(&m, &(struct lives_wanted){.epoch = 1}, 1, &list), -ESTALE);
	/* The epoch ends during the search. */
	assert_int_equal(life_search_begin(&search, &m.made.view, &all), 0);
	m.made.view.epoch = 1;
	assert_int_equal(life_search_step(&search, &m.made.view, &m.lives, 10), -ESTALE);
	assert_int_equal(life_search_result(&search, &m.made.view, &m.lives, &list), -ESTALE);
}

/* A search goes on where it was when numbers begin anew, or when lives before are forgotten. */
CASE(numbers_may_wrap)
{
	CLEANUP(made_lives_deinit) struct made_lives m;
	CLEANUP(life_list_deinit) struct life_list list = {0}, method = {0};

	made_lives_init(&m);
	m.lives.numbers = UINT32_MAX - 2;
	for (uint64_t i = 1; i <= 6; i++)
		made_life(&m, i, MADE_START_NS + i, 100 - i, i & 1 ? "odd" : "even");
	assert_int_equal(search_all(&m, &all, 1, &list), 0);
	expect(&list, "odd even odd even odd even");
	assert_int_equal(list.lives.data[2].number, 1); /* 0 is no number */
	assert_int_equal(search_all(&m, &(struct lives_wanted){.method = UINT32_MAX}, 1, &method),
			 0);
	expect(&method, "even even even");
}

/* The first lives by samples and size are listed, others are counted. */
CASE(rows_are_bounded)
{
	CLEANUP(made_lives_deinit) struct made_lives m;
	CLEANUP(life_list_deinit) struct life_list list = {0};
	uint64_t count = 3 * LIFE_SEARCH_ROWS_MAX + 5, left_bytes = 0;

	made_lives_init(&m);
	for (uint64_t i = 1; i <= count; i++) {
		made_life(&m, i, MADE_START_NS + i, i, "code");
		left_bytes += i <= count - LIFE_SEARCH_ROWS_MAX ? i : 0;
	}
	m.lives.forgotten = (struct code_left_out){.lives = 3, .bytes = 99};
	assert_int_equal(search_all(&m, &all, 1000, &list), 0);
	assert_int_equal(list.lives.size, LIFE_SEARCH_ROWS_MAX);
	assert_int_equal(list.lives.data[0].bytes, count);
	assert_int_equal(list.left_out.lives, count - LIFE_SEARCH_ROWS_MAX);
	assert_int_equal(list.left_out.bytes, left_bytes);
	assert_int_equal(list.forgotten.lives, 3);
}

/* Names have no more room than LIFE_SEARCH_TEXT_BYTES, whatever their number is. */
CASE(names_are_bounded)
{
	CLEANUP(made_lives_deinit) struct made_lives m;
	CLEANUP(life_list_deinit) struct life_list list = {0};
	char name[16001];

	made_lives_init(&m);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	for (uint64_t i = 1; i <= 1000; i++) {
		snprintf(name, sizeof(name), "%04lu", (unsigned long)i);
		name[4] = 'x';
		made_life(&m, i, MADE_START_NS + i, 1, name);
	}
	assert_int_equal(search_all(&m, &all, 1000, &list), 0);
	assert_int_equal(list.lives.size, LIFE_SEARCH_TEXT_BYTES / (sizeof(name) - 1 + 6));
	assert_int_equal(list.left_out.lives, 1000 - list.lives.size);
	assert_int_equal(list.left_out.bytes, 1000 - list.lives.size);
}
