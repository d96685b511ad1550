/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rules of the JIT API (tests/conformance/rules.c), applied to the code map. */
#include <stdint.h>

#include "tests/conformance/rules.h"
#include "tests/unit/cases.h"
#include "tests/unit/state/apply_jit.h"
#include "tests/unit/state/code_text.h"

#define BASE 0x7f0000000000ull

static struct code_string string_of(const char *s)
{
	return (struct code_string){.bytes = s, .size_bytes = s ? strlen(s) : 0};
}

/* The time of an event is its number. */
static void apply(struct code_map *map, struct code_account *account,
		  const struct rule_event *rule_event, size_t number)
{
	struct jit_event event = {
		.header = {.event = rule_event->kind,
			   .sequence = number,
			   .method_id = rule_event->id,
			   .parent_id = rule_event->parent,
			   .address = rule_event->at ? BASE + rule_event->at : 0,
			   .code_bytes = rule_event->size_bytes},
		.name = string_of(rule_event->name),
		.class_name = string_of(rule_event->class_name),
		.source = string_of(rule_event->source),
		.module = string_of(rule_event->module),
		.lines = rule_event->lines,
		.line_count = rule_event->line_count,
		.arch = rule_event->arch,
		.segment = rule_event->segment,
	};
	uint64_t engine = CODE_ENGINE_KNOWN | rule_event->engine;

	assert_int_equal(apply_jit(map, account, &event, engine, number), 0);
}

static void assert_frames(const struct code_map *map, const struct rule *rule,
			  const struct rule_query *query)
{
	uint64_t address = BASE + query->at;
	const struct code_region *region = code_map_find(map, address, query->after);
	char text[CODE_TEXT_BYTES] = "nothing";

	if (region)
		code_text(region, address, text);
	if (strcmp(text, query->frames ?: "nothing") != 0)
		fail_msg("%s: after %zu at %#llx: %s, and not %s", rule->says, query->after,
			 (unsigned long long)query->at, text, query->frames ?: "nothing");
}

/* The result of a query, with a reference: later events must not change it. */
struct held {
	const struct code_region *region;
	const struct rule_query *query;
};

static void assert_held(const struct rule *rule, struct held *held, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char text[CODE_TEXT_BYTES];

		code_text(held[i].region, BASE + held[i].query->at, text);
		if (strcmp(text, held[i].query->frames) != 0)
			fail_msg("%s: has become %s", rule->says, text);
		space_value_put((struct space_value *)&held[i].region->value);
	}
}

static void run(const struct rule *rule, bool hold)
{
	struct held held[RULE_QUERIES_MAX];
	struct code_account *account = make_account(&code_budget_default);
	uint64_t next_number = 0;
	size_t held_count = 0;
	struct code_map *map;

	assert_int_equal(code_map_create(&next_number, &map), 0);
	for (size_t i = 1; i <= RULE_EVENTS_MAX && rule->events[i - 1].kind; i++) {
		apply(map, account, &rule->events[i - 1], i);
		for (size_t q = 0; q < RULE_QUERIES_MAX; q++) {
			const struct rule_query *query = &rule->queries[q];

			if (query->after != i)
				continue;
			assert_frames(map, rule, query);
			if (!hold || !query->frames)
				continue;
			held[held_count].query = query;
			held[held_count].region = code_map_find(map, BASE + query->at, i);
			space_value_get((struct space_value *)&held[held_count++].region->value);
		}
	}
	/* With references held, late samples find the code of their time. */
	for (size_t q = 0; hold && q < RULE_QUERIES_MAX && rule->queries[q].after; q++)
		assert_frames(map, rule, &rule->queries[q]);
	code_map_destroy(map);
	code_account_put(account);
	assert_held(rule, held, held_count);
}

CASE(test_rules)
{
	for (size_t i = 0; i < rule_count; i++) {
		assert_true(rules[i].queries[0].after > 0);
		run(&rules[i], false);
		run(&rules[i], true);
	}
}
