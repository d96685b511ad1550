/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * If any single allocation fails, the state is unchanged, and the same change
 * works when memory is available again. The sources are included, so that their
 * allocations can be made to fail.
 */
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include "tests/unit/state/apply_jit.h"
#include "tests/unit/state/space_model.h"

static size_t allocations_left = SIZE_MAX;

static bool allocation_fails(void)
{
	if (!allocations_left)
		return true;
	allocations_left--;
	return false;
}

#define aligned_alloc(align, size)   (allocation_fails() ? NULL : aligned_alloc(align, size))
#define malloc(size)		     (allocation_fails() ? NULL : malloc(size))
#define calloc(count, size)	     (allocation_fails() ? NULL : calloc(count, size))
#define reallocarray(p, count, size) (allocation_fails() ? NULL : reallocarray(p, count, size))

#include "state/code/code_account.c"
#include "state/code/code_described.c"
#include "state/code/code_force.c"
#include "state/code/code_gap.c"
#include "state/code/code_inlines.c"
#include "state/code/code_layout.c"
#include "state/code/code_lines.c"
#include "state/code/code_load.c"
#include "state/code/code_map.c"
#include "state/code/code_merge.c"
#include "state/code/code_move.c"
#include "state/code/code_region.c"
#include "state/code/code_unload.c"
#include "state/code/code_update.c"
#include "state/space/cow_pool.c"
#include "state/space/cow_range.c"
#include "state/space/cow_tree.c"
#include "state/space/space_history.c"
#include "state/space/space_map.c"
#include "state/space/space_pieces.c"
#include "tests/unit/cases.h"

#define UNITS 40

static void value_free(struct space_value *value)
{
	free(value);
}

static struct space_value *value_create(void)
{
	struct space_value *value = malloc(sizeof(*value));

	assert_non_null(value);
	*value = (struct space_value){.refs = 1, .free = value_free};
	return value;
}

/* All answers of a map, for comparison. */
struct answers {
	struct space_entry at[UNITS][40];
	size_t size, history;
	uint64_t generation;
};

static void ask(const struct space_map *map, uint64_t now_ns, struct answers *ret)
{
	uint64_t from_ns = now_ns > 38 ? now_ns - 38 : 0;

	memset(ret, 0, sizeof(*ret));
	for (uint64_t unit = 0; unit < UNITS; unit++) {
		for (uint64_t i = 0; i < 40; i++)
			space_map_find(map, unit, from_ns + i, &ret->at[unit][i]);
	}
	ret->size = space_map_size(map);
	ret->history = space_map_history(map);
	ret->generation = space_map_generation(map);
}

struct change {
	uint64_t kind, start, end, time_ns;
	struct space_value *value;
};

static int apply(struct space_map *map, const struct change *change)
{
	struct space_entry entry;
	int err;

	switch (change->kind) {
	case 0:
		return space_map_clear(map, change->time_ns);
	case 1 ... 5:
		if (!space_map_next(map, change->start, &entry))
			return 0;
		err = space_map_end(map, entry.start, entry.value, change->time_ns);
		return err < 0 ? err : 0;
	default:
		return space_map_insert(map, change->start, change->end, change->time_ns,
					change->value);
	}
}

/* Take the free cells of a tree, which the pool frees in the end. */
static void drain(struct cow_tree *tree)
{
	while (tree->pool && tree->pool->free_count)
		cow_pool_take(tree->pool);
}

/* Apply a change with increasing memory until it succeeds. Returns the number of failures. */
static size_t apply_starved(struct space_map *map, const struct change *change, uint64_t now_ns)
{
	static struct answers before, after;

	ask(map, now_ns, &before);
	for (size_t allowed = 0;; allowed++) {
		int err;

		drain(&map->tree);
		allocations_left = allowed;
		err = apply(map, change);
		allocations_left = SIZE_MAX;
		if (!err)
			return allowed;
		assert_int_equal(err, -ENOMEM);
		ask(map, now_ns, &after);
		assert_memory_equal(&before, &after, sizeof(before));
	}
}

CASE(test_space_map)
{
	struct dice dice = {3};
	size_t failures = 0;

	for (size_t round = 0; round < 300; round++) {
		struct space_map *map = NULL, *clone;

		assert_int_equal(space_map_create(round % 2 ? SPACE_CUT : SPACE_END_WHOLE, &map),
				 0);
		for (uint64_t now_ns = 0; now_ns < 60; now_ns++) {
			uint64_t start = dice_roll(&dice, UNITS - 8);
			struct change change = {
				.kind = dice_roll(&dice, 24),
				.start = start,
				.end = start + 1 + dice_roll(&dice, 8),
				.time_ns = now_ns - dice_roll(&dice, now_ns < 6 ? 1 : 6),
				.value = value_create(),
			};
			size_t size = space_map_size(map);

			/* Sometimes the map is cloned, so that a change must copy. */
			clone = NULL;
			if (dice_roll(&dice, 3) == 0)
				assert_int_equal(space_map_clone(map, &clone), 0);
			failures += apply_starved(map, &change, now_ns);
			if (clone)
				assert_int_equal(space_map_size(clone), size);
			space_map_destroy(clone);
			space_value_put(change.value);
		}
		space_map_destroy(map);
	}
	assert_true(failures > 1000);
}

struct code_answers {
	uint64_t number[UNITS][2];
	uint64_t generation, next_number;
	struct code_account account;
	size_t methods, waiting;
	uint64_t levels[UNITS];
};

static void ask_code(const struct code_map *map, const struct code_account *account,
		     uint64_t now_ns, struct code_answers *ret)
{
	struct code_level levels[CODE_LEVELS_MAX];

	memset(ret, 0, sizeof(*ret));
	for (uint64_t unit = 0; unit < UNITS; unit++) {
		for (size_t i = 0; i < 2; i++) {
			const struct code_region *region =
				code_map_find(map, unit, now_ns - (i && now_ns ? 1 : 0));

			ret->number[unit][i] = region ? region->number + 1 : 0;
			if (region && !i)
				ret->levels[unit] =
					code_region_levels(region, unit - region->address, levels);
		}
	}
	ret->generation = code_map_generation(map);
	ret->next_number = *map->next_number;
	ret->account = *account;
	ret->methods = map->methods.size;
	ret->waiting = map->waiting.size;
}

static int apply_code(struct code_map *map, struct code_account *account,
		      const struct code_event *event)
{
	return event->kind ? code_map_apply(map, account, event)
			   : code_map_clear(map, event->time_ns);
}

static size_t apply_code_starved(struct code_map *map, struct code_account *account,
				 const struct code_event *event)
{
	static struct code_answers before, after;

	ask_code(map, account, event->time_ns, &before);
	for (size_t allowed = 0;; allowed++) {
		int err;

		drain(&map->methods);
		drain(&map->late_claims);
		allocations_left = allowed;
		err = apply_code(map, account, event);
		allocations_left = SIZE_MAX;
		if (!err)
			return allowed;
		assert_int_equal(err, -ENOMEM);
		ask_code(map, account, event->time_ns, &after);
		assert_memory_equal(&before, &after, sizeof(before));
	}
}

static struct code_event random_code_event(struct dice *dice, uint64_t now_ns)
{
	/* Clear, unload, update, move, lines, inline, and mostly load. */
	static const uint16_t kinds[] = {
		0,
		JITBPF_CODE_UNLOAD,
		JITBPF_CODE_UNLOAD,
		JITBPF_CODE_UPDATE,
		JITBPF_CODE_UPDATE,
		JITBPF_CODE_MOVE,
		JITBPF_CODE_LINES,
		JITBPF_CODE_INLINE,
		JITBPF_CODE_INLINE,
		JITBPF_CODE_INLINE,
		JITBPF_CODE_INLINE,
		JITBPF_CODE_INLINE,
		JITBPF_CODE_LOAD,
		JITBPF_CODE_LOAD,
		JITBPF_CODE_LOAD,
		JITBPF_CODE_LOAD,
		JITBPF_CODE_LOAD,
	};
	static const struct jitbpf_code_line unsorted[] = {{4, 2}, {2, 1}};
	struct code_event event = {
		.origin = {.publisher = dice_roll(dice, 3) ? JITBPF_PUBLISHER_SHIM
							   : JITBPF_PUBLISHER_JITDUMP,
			   .engine = dice_roll(dice, 2)},
		.kind = kinds[dice_roll(dice, sizeof(kinds) / sizeof(kinds[0]))],
		.time_ns = now_ns,
		.reported_ns = now_ns,
		.method_id = dice_roll(dice, 5),
		.parent_id = dice_roll(dice, 5),
		.address = dice_roll(dice, UNITS),
		.size_bytes = dice_roll(dice, 8),
		.name = {.bytes = "name", .size_bytes = dice_roll(dice, 2) ? 4 : 3},
		.lines = unsorted,
		.line_count = dice_roll(dice, 3),
		.segment = 1 + (uint32_t)dice_roll(dice, 2),
	};

	if (dice_roll(dice, 2))
		event.flags = JITBPF_EVENT_SEGMENT | JITBPF_EVENT_LATE;
	return event;
}

/* Often, an event is about a region that there is. */
static void aim(const struct code_map *map, struct dice *dice, struct code_event *event)
{
	const struct code_region *region = code_map_next(map, event->address);

	if (!region || dice_roll(dice, 2))
		return;
	event->method_id = region->claims->method_id;
	event->origin.engine = region->claims->origin.engine;
	event->size_bytes = region->size_bytes;
	if (event->kind == JITBPF_CODE_MOVE)
		event->old_address = region->address;
	else
		event->address = region->address;
}

static int count_claims(void *context, const struct code_region *region)
{
	*(size_t *)context += region->claim_count;
	return 0;
}

CASE(test_code_map)
{
	struct code_budget budget = {.methods = 60,
				     .name_bytes = 2000,
				     .lines = 200,
				     .inlines = 60,
				     .waiting = 20,
				     .waiting_bytes = 2000,
				     .depth = 3};
	struct dice dice = {4};
	size_t failures = 0;
	uint64_t merged = 0, moves = 0, updates = 0;

	for (size_t round = 0; round < 60; round++) {
		struct code_account *account = make_account(&budget);
		struct code_map *map = NULL, *clone;
		uint64_t next_number = 0;

		assert_int_equal(code_map_create(&next_number, &map), 0);
		for (uint64_t now_ns = 0; now_ns < 60; now_ns++) {
			struct code_event event = random_code_event(&dice, now_ns);
			size_t claims = 0;

			aim(map, &dice, &event);
			clone = NULL;
			if (dice_roll(&dice, 3) == 0)
				assert_int_equal(code_map_clone(map, &clone), 0);
			failures += apply_code_starved(map, account, &event);
			/* The index of methods has exactly the regions in force. */
			code_map_for_each(map, count_claims, &claims);
			assert_int_equal(map->methods.size, claims);
			code_map_destroy(clone);
			if (now_ns > 10)
				code_map_forget(map, now_ns - 10);
		}
		merged += account->counts.merged;
		moves += account->counts.moves;
		updates += account->counts.updates;
		code_map_destroy(map);
		assert_int_equal(account->refs, 1);
		code_account_put(account);
	}
	assert_true(failures > 1000);
	assert_true(merged > 50 && moves > 20 && updates > 50);
}

CASE(test_create_and_clone)
{
	uint64_t next_number = 0;
	struct code_map *map = NULL, *clone = NULL;
	size_t allowed = 0;

	for (;; allowed++) {
		allocations_left = allowed;
		map = NULL;
		if (!code_map_create(&next_number, &map))
			break;
		assert_null(map);
	}
	assert_true(allowed >= 2);
	for (allowed = 0;; allowed++) {
		allocations_left = allowed;
		if (!code_map_clone(map, &clone))
			break;
		assert_null(clone);
	}
	assert_true(allowed >= 2);
	allocations_left = SIZE_MAX;
	code_map_destroy(clone);
	code_map_destroy(map);
}
