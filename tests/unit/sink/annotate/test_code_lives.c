/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "sink/annotate/code_history.h"
#include "sink/timeline/code_lives.h"
#include "state/code/code_region.h"
#include "tests/unit/cases.h"

#define CODE 0x5000

static const struct owner_key somebody = {.uid = 1000}, another = {.uid = 1001};

struct loading {
	uint64_t time_ns, identity, size_bytes;
	uint32_t process;
	const char *name;
	struct owner_key owner;
	bool before_run, shared;
};

static void change(struct code_lives *lives, const struct loading *of, uint64_t time_ns, bool ended)
{
	const struct code_claim claim = {.time_ns = of->time_ns, .before_run = of->before_run};
	const char *name = of->name ?: "f";
	struct code_record record = {
		.region = {.address = CODE,
			   .number = of->identity - 1,
			   .size_bytes = of->size_bytes ?: 0x100,
			   .claims = &claim,
			   .claim_count = 1,
			   .name = name,
			   .texts = "C\0\0m"},
	};
	const struct sink_region told = {
		.time_ns = time_ns,
		.region = &record.region,
		.ended = ended,
		.shared = of->shared,
		.process = of->process,
		.pid = 100 + of->process,
		.comm = "engine",
		.owner = of->owner,
	};

	code_lives_take(lives, &told);
}

static void load(struct code_lives *lives, struct loading of)
{
	change(lives, &of, of.time_ns, false);
}

static void end(struct code_lives *lives, uint64_t identity, uint64_t time_ns)
{
	change(lives, &(struct loading){.identity = identity}, time_ns, true);
}

static void exit_of(struct code_lives *lives, uint32_t process, uint64_t time_ns)
{
	code_lives_take(lives, &(struct sink_region){
				       .time_ns = time_ns, .ended = true, .process = process});
}

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct code_lives));
	return code_lives_init(*state, CODE_LIVES_LIVE_MAX);
}

static int teardown(void **state)
{
	code_lives_deinit(*state);
	free(*state);
	return 0;
}

CASE_WITH(a_life_has_names_and_times, setup, teardown)
{
	struct code_lives *lives = *state;
	const struct code_life *life;

	load(lives, (struct loading){.identity = 7, .time_ns = 10, .name = "run", .process = 3});
	load(lives, (struct loading){.identity = 8, .time_ns = 11, .before_run = true});
	life = code_lives_find(lives, 7);
	assert_non_null(life);
	assert_string_equal(string_pool_get(lives->strings, life->name), "run");
	assert_string_equal(string_pool_get(lives->strings, life->class_name), "C");
	assert_string_equal(string_pool_get(lives->strings, life->module), "m");
	assert_string_equal(string_pool_get(lives->strings, life->comm), "engine");
	assert_int_equal(life->loaded_ns, 10);
	assert_int_equal(life->ended_ns, UINT64_MAX);
	assert_int_equal(life->address, CODE);
	assert_int_equal(life->size_bytes, 0x100);
	assert_int_equal(life->pid, 103);
	end(lives, 7, 25);
	end(lives, 7, 30); /* has ended already */
	assert_int_equal(code_lives_find(lives, 7)->ended_ns, 25);
	assert_int_equal(code_lives_find(lives, 8)->loaded_ns, 0);
	assert_null(code_lives_find(lives, 9));
	end(lives, 9, 30);
	assert_null(code_lives_find(lives, 9));
	assert_int_equal(code_lives_find(lives, 8)->number, 2);
	end(lives, 8, 5);
	assert_int_equal(code_lives_find(lives, 8)->ended_ns, 5);
}

/* A clock that goes back gives no negative life. */
CASE_WITH(a_life_does_not_end_before_it_begins, setup, teardown)
{
	load(*state, (struct loading){.identity = 1, .time_ns = 10});
	end(*state, 1, 9);
	assert_int_equal(code_lives_find(*state, 1)->ended_ns, 10);
}

/* A new version of a region ends the one before, and a child can hold a version of its own. */
CASE_WITH(versions_are_one_life, setup, teardown)
{
	struct code_lives *lives = *state;
	const struct loading first = {.identity = 1, .time_ns = 10, .name = ""};

	load(lives, first);
	end(lives, 1, 20);
	change(lives, &(struct loading){.identity = 1, .time_ns = 10, .name = "known"}, 20, false);
	assert_int_equal(lives->lives.size, 1);
	assert_int_equal(code_lives_find(lives, 1)->ended_ns, UINT64_MAX);
	assert_string_equal(string_pool_get(lives->strings, code_lives_find(lives, 1)->name),
			    "known");
	change(lives, &(struct loading){.identity = 1, .process = 2}, 30, false); /* the child's */
	end(lives, 1, 40);
	assert_int_equal(code_lives_find(lives, 1)->ended_ns, UINT64_MAX);
	end(lives, 1, 50);
	assert_int_equal(code_lives_find(lives, 1)->ended_ns, 50);
}

CASE_WITH(code_ends_with_its_process, setup, teardown)
{
	struct code_lives *lives = *state;

	load(lives, (struct loading){.identity = 1, .time_ns = 10, .process = 1});
	load(lives, (struct loading){.identity = 2, .time_ns = 11, .process = 2});
	load(lives, (struct loading){.identity = 3, .time_ns = 12, .process = 1});
	load(lives, (struct loading){.identity = 4, .time_ns = 13, .process = 1, .shared = true});
	end(lives, 1, 15);
	exit_of(lives, 1, 20);
	exit_of(lives, 9, 20);
	assert_int_equal(code_lives_find(lives, 1)->ended_ns, 15);
	assert_int_equal(code_lives_find(lives, 2)->ended_ns, UINT64_MAX);
	assert_int_equal(code_lives_find(lives, 3)->ended_ns, 20);
	assert_int_equal(code_lives_find(lives, 4)->ended_ns, UINT64_MAX); /* others run it */
	end(lives, 3, 22); /* its map is freed later */
	assert_int_equal(code_lives_find(lives, 3)->ended_ns, 20);
}

/* Of an owner's regions, the largest are kept; each life is kept or counted. */
CASE(a_storm_keeps_the_largest)
{
	CLEANUP(code_lives_deinit) struct code_lives lives;
	const uint64_t count = 20000;
	uint64_t bytes = 0, kept_bytes = 0, smallest = UINT64_MAX;

	assert_int_equal(code_lives_init(&lives, 1 << 20), 0);
	for (uint64_t i = 1; i <= count; i++) {
		uint64_t size = 1 + i * 7919 % 100000;
		char name[24];

		snprintf(name, sizeof(name), "method_%llu", (unsigned long long)i);
		load(&lives, (struct loading){.identity = i,
					      .time_ns = i,
					      .size_bytes = i == 3 ? 1 << 20 : size,
					      .name = name,
					      .owner = somebody});
		bytes += i == 3 ? 1 << 20 : size;
		assert_true(lives.budget.used <= lives.budget.limit);
	}
	vec_for_each (life, &lives.lives) {
		kept_bytes += life->size_bytes;
		smallest = life->size_bytes < smallest ? life->size_bytes : smallest;
		assert_ptr_equal(code_lives_find(&lives, life->identity), life);
	}
	assert_true(lives.lives.size > 1000);
	assert_int_equal(lives.lives.size + lives.forgotten.lives, count);
	assert_int_equal(kept_bytes + lives.forgotten.bytes, bytes);
	assert_non_null(code_lives_find(&lives, 3));
	assert_string_equal(string_pool_get(lives.strings, code_lives_find(&lives, 3)->name),
			    "method_3");
	assert_true(string_pool_size(lives.strings) <= lives.lives.size + 4);
	exit_of(&lives, 0, count + 1);
	vec_for_each (life, &lives.lives)
		assert_int_equal(life->ended_ns, count + 1);
}

/* Whoever loads endless code, with long names and wrong sizes, costs others nothing. */
CASE(an_owner_cannot_evict_others)
{
	CLEANUP(code_lives_deinit) struct code_lives lives;
	AUTO_FREE char *name = malloc(20001);

	assert_non_null(name);
	memset(name, 'x', 20000);
	name[20000] = 0;
	assert_int_equal(code_lives_init(&lives, 1 << 20), 0);
	for (uint64_t i = 1; i <= 1000; i++)
		load(&lives, (struct loading){
				     .identity = i, .time_ns = i, .process = 1, .owner = somebody});
	for (uint64_t i = 1001; i <= 5000; i++)
		load(&lives, (struct loading){.identity = i,
					      .time_ns = i,
					      .size_bytes = UINT64_MAX / 2,
					      .process = 2,
					      .name = i & 1 ? name : "short",
					      .owner = another});
	for (uint64_t i = 1; i <= 1000; i++)
		assert_non_null(code_lives_find(&lives, i));
	assert_true(lives.budget.used <= lives.budget.limit);
	assert_true(lives.lives.size > 1000);
	assert_int_equal(lives.lives.size + lives.forgotten.lives, 5000);
	assert_true(lives.forgotten.bytes == UINT64_MAX);
}

CASE(the_history_says_when_code_ended)
{
	const struct code_claim claim = {.time_ns = 10};
	struct code_record record = {.region = {.address = CODE,
						.number = 4,
						.size_bytes = 16,
						.claims = &claim,
						.claim_count = 1,
						.name = "f",
						.texts = CODE_NO_TEXTS}};
	struct sink_region told = {.time_ns = 10, .region = &record.region, .comm = "engine"};
	struct sink *history;

	assert_int_equal(code_history_create(CODE_LIVES_MAX, &history), 0);
	assert_int_equal(code_history_end(history, 5), 0);
	assert_int_equal(sink_code_history.region(history, NULL, &told), 0);
	assert_int_equal(code_history_end(history, 5), UINT64_MAX);
	told.time_ns = 12;
	told.ended = true;
	assert_int_equal(sink_code_history.region(history, NULL, &told), 0);
	assert_int_equal(code_history_end(history, 5), 12);
	sink_code_history.destroy(history);
}
