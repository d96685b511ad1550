/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/cases.h"
#include "tests/unit/state/apply_jit.h"
#include "tests/unit/state/space_model.h"

/* All events of a test are charged to it. */
static struct code_account *account;

static struct code_string string_of(const char *s)
{
	return (struct code_string){.bytes = s, .size_bytes = strlen(s)};
}

static struct jit_event load(uint32_t id, uint64_t address, uint64_t size_bytes, const char *name)
{
	return (struct jit_event){.header = {.event = JIT_EVENT_LOAD,
					     .method_id = id,
					     .address = address,
					     .code_bytes = size_bytes},
				  .name = string_of(name)};
}

static struct jit_event unload(uint32_t id, uint64_t address, uint64_t size_bytes)
{
	return (struct jit_event){.header = {.event = JIT_EVENT_UNLOAD,
					     .method_id = id,
					     .address = address,
					     .code_bytes = size_bytes}};
}

/* Apply an event; its caller serves as its engine. */
static void apply(struct code_map *map, struct jit_event event, uint64_t time_ns)
{
	assert_int_equal(apply_jit(map, account, &event, event.header.caller, time_ns), 0);
}

static void assert_at(const struct code_map *map, uint64_t address, uint64_t time_ns,
		      const char *name)
{
	const struct code_region *region = code_map_find(map, address, time_ns);

	if (!name) {
		assert_null(region);
		return;
	}
	assert_non_null(region);
	assert_string_equal(region->name, name);
}

static struct code_map *create(const struct code_budget *budget, uint64_t *next_number)
{
	struct code_map *map;

	if (!account)
		account = make_account(budget ? budget : &code_budget_default);
	assert_int_equal(code_map_create(next_number, &map), 0);
	return map;
}

static int drop_account(void **state)
{
	code_account_put(account);
	account = NULL;
	return 0;
}

CASE_WITH(test_region_keeps_all, NULL, drop_account)
{
	struct jitbpf_code_line lines[] = {{0, 3}, {8, 4}}; /* begins of ranges: as settled */
	unsigned char unaligned[sizeof(lines) + 1];
	struct jit_event event = load(7, 0x1000, 64, "name");
	const struct code_region *region;
	uint64_t next_number = 5;
	struct code_map *map = create(NULL, &next_number);

	memcpy(unaligned + 1, lines, sizeof(lines));
	event.header.event = JIT_EVENT_LOAD_V2;
	event.header.caller = 0xabc;
	event.header.sequence = 99;
	event.class_name = (struct code_string){.bytes = "cut\0off", .size_bytes = 7};
	event.module = string_of("\xff\x1b[31m\n");
	event.lines = unaligned + 1;
	event.line_count = 2;
	apply(map, event, 10);
	region = code_map_find(map, 0x103f, 10);
	assert_non_null(region);
	assert_int_equal(region->number, 5);
	assert_int_equal(next_number, 6);
	assert_int_equal(region->address, 0x1000);
	assert_int_equal(region->size_bytes, 64);
	assert_int_equal(region->loaded_ns, 10);
	assert_int_equal(region->claims->origin.engine, 0xabc);
	assert_int_equal(region->claims->origin.sequence, 99);
	assert_int_equal(region->claims->method_id, 7);
	assert_string_equal(region->name, "name");
	assert_string_equal(code_region_class(region), "cut");
	assert_string_equal(code_region_source(region), "");
	assert_string_equal(code_region_module(region), "\xff\x1b[31m\n");
	assert_int_equal(region->line_count, 2);
	assert_memory_equal(code_region_lines(region), lines, sizeof(lines));
	assert_int_equal(account->counts.loads, 1);
	assert_int_equal(account->counts.code_bytes, 64);
	code_map_destroy(map);
}

CASE_WITH(test_time_decides, NULL, drop_account)
{
	uint64_t next_number = 0;
	struct code_map *map = create(NULL, &next_number);

	apply(map, load(1, 0x1000, 0x100, "old"), 10);
	apply(map, load(2, 0x1080, 0x10, "new"), 20);
	assert_at(map, 0x1000, 9, NULL);
	assert_at(map, 0x1000, 19, "old");
	assert_at(map, 0x1000, 20, NULL);
	assert_at(map, 0x1088, 20, "new");
	apply(map, unload(2, 0, 0), 30);
	assert_at(map, 0x1088, 29, "new");
	assert_at(map, 0x1088, 30, NULL);
	/* The first region was overwritten, so there is nothing left to unload. */
	apply(map, unload(1, 0, 0), 40);
	assert_int_equal(account->counts.unloads, 1);
	assert_int_equal(account->counts.unload_unknown, 1);
	code_map_destroy(map);
}

CASE_WITH(test_unload_by_id, NULL, drop_account)
{
	uint64_t next_number = 0;
	struct code_map *map = create(NULL, &next_number);
	struct jit_event event;

	/* Parts of one function, and a method of another engine with the same id. */
	event = load(1, 0x1000, 16, "part");
	event.header.caller = 0xa;
	apply(map, event, 10);
	event.header.address = 0x2000;
	apply(map, event, 11);
	event = load(1, 0x3000, 16, "other");
	event.header.caller = 0xb;
	apply(map, event, 12);
	event = unload(1, 0x3000, 16);
	event.header.caller = 0xa;
	apply(map, event, 20);
	assert_at(map, 0x1000, 20, NULL);
	assert_at(map, 0x2000, 20, NULL);
	assert_at(map, 0x3000, 20, "other");
	/* The last region with this id, unloaded by another caller. */
	event.header.caller = 0xc;
	apply(map, event, 30);
	assert_at(map, 0x3000, 30, NULL);
	assert_int_equal(account->counts.unloads, 2);
	code_map_destroy(map);
}

CASE_WITH(test_unload_of_the_latest, NULL, drop_account)
{
	uint64_t next_number = 0;
	struct code_map *map = create(NULL, &next_number);
	struct jit_event event = load(1, 0x1000, 16, "first");

	event.header.caller = 0xa;
	apply(map, event, 10);
	event = load(1, 0x2000, 16, "second");
	event.header.caller = 0xb;
	apply(map, event, 11);
	apply(map, unload(1, 0, 0), 20);
	assert_at(map, 0x1000, 20, "first");
	assert_at(map, 0x2000, 20, NULL);
	/* An unload that arrives after a later load does not affect that load. */
	apply(map, load(9, 0x3000, 16, "reused"), 40);
	apply(map, unload(9, 0, 0), 30);
	assert_at(map, 0x3000, 40, "reused");
	code_map_destroy(map);
}

CASE_WITH(test_unload_by_address, NULL, drop_account)
{
	uint64_t next_number = 0;
	struct code_map *map = create(NULL, &next_number);

	apply(map, load(1, 0x1000, 0x20, "before"), 10);
	apply(map, load(2, 0x1020, 0x20, "in"), 10);
	apply(map, load(3, 0x1040, 0x20, "in too"), 10);
	apply(map, load(4, 0x1060, 0x20, "behind"), 10);
	apply(map, unload(0, 0x1010, 0x50), 20);
	assert_at(map, 0x1000, 20, "before");
	assert_at(map, 0x1020, 20, NULL);
	assert_at(map, 0x1040, 20, NULL);
	assert_at(map, 0x1060, 20, "behind");
	apply(map, unload(0, 0x1060, 0), 30);
	assert_at(map, 0x1060, 30, NULL);
	apply(map, unload(0, UINT64_MAX, UINT64_MAX), 30);
	apply(map, unload(0, 0, 0), 30);
	assert_at(map, 0x1000, 30, "before");
	assert_int_equal(account->counts.unloads, 2);
	assert_int_equal(account->counts.unload_unknown, 2);
	code_map_destroy(map);
}

CASE_WITH(test_kept_out, NULL, drop_account)
{
	uint64_t next_number = 0;
	struct code_map *map = create(NULL, &next_number);
	static const uint16_t others[] = {0, 1, 12, 18, 23, 999};
	struct jit_event event;

	apply(map, load(1, 0x1000, 0, "empty"), 10);
	apply(map, load(0, 0x1000, 16, "no id"), 10);
	apply(map, load(1, UINT64_MAX - 4, 16, "wraps"), 10);
	apply(map, load(1, UINT64_MAX - 15, 16, "ends at 2^64"), 10);
	assert_int_equal(account->counts.invalid, 4);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		event = load(1, 0x1000, 16, "other");
		event.header.event = others[i];
		event.unknown_fields = 2;
		apply(map, event, 10);
	}
	assert_int_equal(account->counts.not_understood, 6);
	assert_int_equal(account->counts.unknown_fields, 12);
	apply(map, (struct jit_event){.header = {.event = JIT_EVENT_SHUTDOWN}}, 10);
	assert_int_equal(account->counts.not_understood, 6);
	assert_int_equal(account->counts.loads, 0);
	assert_int_equal(code_map_generation(map), 0);
	assert_int_equal(next_number, 0);
	code_map_destroy(map);
}

/* Methods without code are charged as others are, and end with their map, on exec, in a gap. */
CASE_WITH(test_registered, NULL, drop_account)
{
	struct code_budget budget = {.methods = 2, .name_bytes = 20};
	uint64_t next_number = 0;
	struct code_map *map = create(&budget, &next_number), *clone;
	const struct code_gap gap = {
		.publisher = JITBPF_PUBLISHER_SHIM, .from_ns = 40, .to_ns = 50};

	apply(map, load(1, 0, 0, "seven"), 10);
	apply(map, load(0, 0, 16, "no id"), 10);
	apply(map, load(9, 0, 16, ""), 10);
	assert_int_equal(account->counts.invalid, 1);
	assert_int_equal(account->counts.loads, 0);
	assert_int_equal(account->methods, 1);
	assert_int_equal(account->name_bytes, sizeof("seven"));
	apply(map, load(2, 0, 0, "longer than is left"), 10);
	assert_int_equal(account->counts.over_budget, 1);
	apply(map, load(3, 0, 0, "three"), 10);
	apply(map, load(4, 0, 0, "four"), 10);
	assert_int_equal(account->counts.over_budget, 2);
	assert_int_equal(account->methods, 2);

	/* Over the budget, the load is refused, and the registration stays. */
	apply(map, load(1, 0x1000, 16, "one"), 20);
	assert_at(map, 0x1000, 20, NULL);
	apply(map, unload(3, 0, 0), 30);
	assert_int_equal(account->counts.unloads, 1);
	apply(map, load(1, 0x1000, 16, "one"), 30);
	assert_at(map, 0x1000, 30, "seven");
	apply(map, unload(1, 0, 0), 31);
	code_map_forget(map, 40);
	assert_int_equal(account->methods, 0);

	account->budget.methods = 3;
	apply(map, load(5, 0, 0, "five"), 40);
	assert_int_equal(code_map_clone(map, &clone), 0);
	assert_int_equal(code_map_gap(map, account, &gap), 0);
	apply(map, load(5, 0x1000, 16, "5"), 60);
	assert_at(map, 0x1000, 60, "5");
	apply(clone, load(5, 0x1000, 16, "5"), 60);
	assert_at(clone, 0x1000, 60, "five");
	apply(clone, load(6, 0, 0, "six"), 60);
	assert_int_equal(account->counts.over_budget, 4);
	code_map_destroy(map);
	apply(clone, load(6, 0, 0, "six"), 60);
	assert_int_equal(code_map_clear(clone, 70), 0);
	apply(clone, load(6, 0x1000, 16, "6"), 80);
	assert_at(clone, 0x1000, 80, "6");
	code_map_destroy(clone);
	assert_int_equal(account->methods, 0);
}

CASE_WITH(test_budget, NULL, drop_account)
{
	struct code_budget budget = {.methods = 2, .name_bytes = 20, .lines = 4};
	struct jitbpf_code_line lines[3] = {{0, 1}};
	uint64_t next_number = 0;
	struct code_map *map = create(&budget, &next_number);
	struct jit_event event = load(1, 0x1000, 16, "four");

	event.lines = lines;
	event.line_count = 2;
	apply(map, event, 10);
	event.header.address = 0x2000;
	apply(map, event, 10);
	assert_int_equal(account->counts.over_budget, 1);
	apply(map, load(2, 0x2000, 16, "fourteen bytes."), 10);
	assert_int_equal(account->counts.over_budget, 2);
	apply(map, load(2, 0x2000, 16, "fourteen bytes"), 10);
	assert_at(map, 0x2000, 10, "fourteen bytes");
	/* A refused load still ends what it overwrites. */
	apply(map, load(3, 0x2000, 1, ""), 20);
	assert_int_equal(account->counts.over_budget, 3);
	assert_at(map, 0x2000, 20, NULL);
	assert_at(map, 0x2000, 19, "fourteen bytes");
	/* There is room again when ended regions have been forgotten. */
	code_map_forget(map, 30);
	apply(map, load(2, 0x2000, 1, "fourteen bytes"), 30);
	assert_at(map, 0x2000, 30, "fourteen bytes");
	assert_int_equal(account->counts.over_budget, 3);
	assert_int_equal(account->counts.loads, 3);
	code_map_destroy(map);
}

static int add_name(void *context, const struct code_region *region)
{
	strcat(context, region->name);
	return !strcmp(region->name, "c") ? 7 : 0;
}

/* Iterates over the live regions by address, until the callback stops it. */
CASE_WITH(test_each_in_force, NULL, drop_account)
{
	uint64_t next_number = 0;
	struct code_map *map = create(NULL, &next_number);
	char names[16] = "";

	apply(map, load(1, 0x3000, 16, "b"), 10);
	apply(map, load(2, 0x1000, 16, "dead"), 11);
	apply(map, load(3, 0x2000, 16, "unloaded"), 12);
	apply(map, unload(3, 0, 0), 13);
	apply(map, load(4, 0x1008, 16, "a"), 14);
	assert_int_equal(code_map_for_each(map, add_name, names), 0);
	assert_string_equal(names, "ab");
	apply(map, load(5, 0x2000, 16, "c"), 15);
	*names = 0;
	assert_int_equal(code_map_for_each(map, add_name, names), 7);
	assert_string_equal(names, "ac");
	code_map_destroy(map);
}

/* A region with a reference outlives its map, and counts against the budget. */
CASE_WITH(test_held_region, NULL, drop_account)
{
	struct code_budget budget = {.methods = 1, .name_bytes = 20, .lines = 0};
	uint64_t next_number = 0;
	struct code_map *map = create(&budget, &next_number);
	struct code_region *region;

	apply(map, load(1, 0x1000, 16, "held"), 10);
	region = (struct code_region *)code_map_find(map, 0x1000, 10);
	space_value_get(&region->value);
	apply(map, unload(1, 0, 0), 20);
	code_map_forget(map, 30);
	apply(map, load(2, 0x2000, 16, "refused"), 40);
	assert_at(map, 0x2000, 40, NULL);
	code_map_destroy(map);
	assert_string_equal(region->name, "held");
	space_value_put(&region->value);
}

CASE_WITH(test_fork_and_exec, NULL, drop_account)
{
	uint64_t next_number = 0;
	struct code_map *parent = create(NULL, &next_number), *child;

	apply(parent, load(1, 0x1000, 16, "inherited"), 10);
	assert_int_equal(code_map_clone(parent, &child), 0);
	/* After the fork, parent and child use the same id and address for different functions. */
	apply(parent, load(2, 0x2000, 16, "parent's"), 20);
	apply(child, load(2, 0x2000, 16, "child's"), 20);
	assert_at(parent, 0x2000, 20, "parent's");
	assert_at(child, 0x2000, 20, "child's");
	apply(child, unload(1, 0, 0), 30);
	assert_at(parent, 0x1000, 30, "inherited");
	assert_at(child, 0x1000, 30, NULL);
	assert_int_equal(code_map_clear(parent, 40), 0);
	assert_at(parent, 0x1000, 39, "inherited");
	assert_at(parent, 0x1000, 40, NULL);
	assert_at(child, 0x2000, 40, "child's");
	apply(parent, unload(2, 0, 0), 50);
	assert_int_equal(account->counts.unload_unknown, 1);
	code_map_destroy(parent);
	assert_at(child, 0x2000, 40, "child's");
	code_map_destroy(child);
	assert_int_equal(next_number, 3);
}

/* --- random sequences against the model --------------------------------------- */

#define UNITS 64
#define IDS   5
#define MAPS  3
#define STEPS 250

/* What a region reported; the values of the model. */
struct said {
	uint32_t id;
	uint64_t caller;
	char name[24];
};

struct trial {
	struct dice dice;
	struct code_map *maps[MAPS];
	struct model *models; /* MAPS of them */
	struct said *said;    /* STEPS of them */
	size_t said_count;
	uint64_t now_ns;
	uint64_t next_number;
};

static const struct said *said_of(const struct model_entry *entry)
{
	return entry->value;
}

static void trial_load(struct trial *trial, size_t which, uint64_t time_ns)
{
	struct said *said = &trial->said[trial->said_count++];
	uint64_t start = 1 + dice_roll(&trial->dice, UNITS), size = 1 + dice_roll(&trial->dice, 5);
	struct jit_event event;

	said->id = 1 + (uint32_t)dice_roll(&trial->dice, IDS);
	said->caller = dice_roll(&trial->dice, 3);
	snprintf(said->name, sizeof(said->name), "m%zu", trial->said_count);
	/* The name is that of the method's first region; each region has its own source. */
	event = load(said->id, start, size, "method");
	event.source = string_of(said->name);
	event.header.caller = said->caller;
	apply(trial->maps[which], event, time_ns);
	model_insert(&trial->models[which], start, start + size, time_ns, said);
}

/* An unload by id ends the regions of its caller, or else those of the latest caller. */
static void trial_unload_id(struct trial *trial, size_t which, uint64_t time_ns)
{
	struct jit_event event = unload(1 + (uint32_t)dice_roll(&trial->dice, IDS), 99, 99);
	struct model *model = &trial->models[which];
	uint64_t caller = dice_roll(&trial->dice, 3), chosen = 0;
	bool equal = false;

	event.header.caller = caller;
	apply(trial->maps[which], event, time_ns);
	for (size_t i = 0; i < model->size && !equal; i++) {
		const struct model_entry *entry = &model->entries[i];

		if (!model_lives(entry) || entry->from_ns > time_ns ||
		    said_of(entry)->id != event.header.method_id)
			continue;
		chosen = said_of(entry)->caller;
		equal = chosen == caller;
	}
	for (size_t i = 0; i < model->size; i++) {
		struct model_entry *entry = &model->entries[i];

		if (model_lives(entry) && entry->from_ns <= time_ns &&
		    said_of(entry)->id == event.header.method_id &&
		    said_of(entry)->caller == chosen)
			entry->to_ns = time_ns;
	}
	model_drop_empty(model);
}

static void trial_step(struct trial *trial)
{
	size_t which = dice_roll(&trial->dice, MAPS), other = dice_roll(&trial->dice, MAPS);
	uint64_t late = dice_roll(&trial->dice, 5) ? 0 : dice_roll(&trial->dice, 12);
	uint64_t start = 1 + dice_roll(&trial->dice, UNITS), size = dice_roll(&trial->dice, 9);
	uint64_t time_ns;

	trial->now_ns += dice_roll(&trial->dice, 3);
	time_ns = late < trial->now_ns ? trial->now_ns - late : 0;
	switch (dice_roll(&trial->dice, 40)) {
	case 0:
		assert_int_equal(code_map_clear(trial->maps[which], time_ns), 0);
		model_clear(&trial->models[which], time_ns);
		break;
	case 1:
		code_map_forget(trial->maps[which], time_ns);
		model_forget(&trial->models[which], time_ns);
		break;
	case 2:
		if (which == other)
			break;
		code_map_destroy(trial->maps[other]);
		assert_int_equal(code_map_clone(trial->maps[which], &trial->maps[other]), 0);
		model_clone(&trial->models[which], &trial->models[other]);
		break;
	case 3 ... 7:
		trial_unload_id(trial, which, time_ns);
		break;
	case 8 ... 9:
		apply(trial->maps[which], unload(0, start, size), time_ns);
		model_end(&trial->models[which], start, start + (size ? size : 1), NULL, time_ns);
		break;
	default:
		trial_load(trial, which, time_ns);
	}
}

static void trial_compare(struct trial *trial, size_t which)
{
	for (size_t i = 0; i < 60; i++) {
		uint64_t address = dice_roll(&trial->dice, UNITS + 8);
		uint64_t time_ns = dice_roll(&trial->dice, trial->now_ns + 5);
		const struct model_entry *want =
			model_find(&trial->models[which], address, time_ns);

		const struct code_region *got = code_map_find(trial->maps[which], address, time_ns);

		assert_int_equal(!got, !want);
		if (want)
			assert_string_equal(code_region_source(got), said_of(want)->name);
	}
}

CASE_WITH(test_model, NULL, drop_account)
{
	struct model *models = calloc(MAPS, sizeof(*models));
	struct said *said = calloc(STEPS, sizeof(*said));

	assert_non_null(models);
	assert_non_null(said);
	for (uint64_t seed = 0; seed < 2000; seed++) {
		struct trial trial = {.dice = {seed}, .models = models, .said = said};

		for (size_t i = 0; i < MAPS; i++) {
			models[i].size = models[i].cleared_ns = 0;
			trial.maps[i] = create(NULL, &trial.next_number);
		}
		for (size_t step = 0; step < STEPS; step++) {
			trial_step(&trial);
			if (step % 10 == 9)
				trial_compare(&trial, step / 10 % MAPS);
		}
		for (size_t i = 0; i < MAPS; i++) {
			trial_compare(&trial, i);
			code_map_destroy(trial.maps[i]);
		}
		assert_int_equal(trial.next_number, trial.said_count);
	}
	free(models);
	free(said);
}
