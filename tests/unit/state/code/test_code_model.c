/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random events, applied to a code map and to a simple model of one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/state/code_model.h"

#include "tests/unit/state/space_model.h"

#define MAPS  2
#define STEPS 160
#define HELD  40
#define SEEDS 1500
#define TIMES (2 * STEPS + 8)

/* The load in force at each address at the end of a moment, or 0. */
struct past {
	uint32_t stood[TIMES][MODEL_UNITS + 1];
	uint64_t from_ns;
};

struct held {
	const struct code_region *region;
	uint64_t address;
	char text[CODE_TEXT_BYTES];
};

struct trial {
	struct dice dice;
	uint64_t seed, now_ns, next_number, sequence;
	struct code_map *maps[MAPS];
	struct code_model *models;    /* MAPS */
	struct past *pasts;	      /* MAPS */
	struct model_inline *inlines; /* STEPS */
	struct held *held;	      /* HELD */
	size_t held_count;
};

static uint64_t roll(struct trial *trial, uint64_t sides)
{
	return dice_roll(&trial->dice, sides);
}

static struct model_event random_event(struct trial *trial, uint16_t kind, uint64_t size_max)
{
	static const uint64_t engines[] = {CODE_ENGINE_KNOWN, CODE_ENGINE_KNOWN,
					   CODE_ENGINE_KNOWN | 1, 77};
	uint64_t start = 1 + roll(trial, MODEL_UNITS);
	uint64_t end = start + 1 + roll(trial, size_max);

	return (struct model_event){
		.kind = kind,
		.engine = engines[roll(trial, 4)],
		.sequence = trial->sequence++,
		.time_ns = trial->now_ns,
		.id = 1 + (uint32_t)roll(trial, 3),
		.parent_id = (uint32_t)roll(trial, 4),
		.segment = (uint32_t)roll(trial, 5),
		.start = start,
		.end = end <= MODEL_UNITS + 1 ? end : MODEL_UNITS + 1,
		.has_source = roll(trial, 2),
	};
}

static void apply(struct code_map *map, const struct model_event *event)
{
	uint32_t size = (uint32_t)(event->end - event->start), line = event->number * 2;
	struct jitbpf_jit_line lines[] = {{(size + 1) / 2, line}, {size, line + 1}};
	char name[16], source[16];
	struct jit_event jit = {
		.header = {.event = event->kind,
			   .sequence = event->sequence,
			   .method_id = event->id,
			   .parent_id = event->parent_id,
			   .address = event->start,
			   .code_bytes = size},
		.name = {name, 0},
		.source = {source, 0},
		.lines = lines,
		.line_count = 2,
		.segment = event->segment,
	};
	bool load = event->kind == JIT_EVENT_LOAD;

	jit.name.size_bytes = (size_t)sprintf(name, "%c%u", load ? 'm' : 'i', event->number);
	jit.source.size_bytes = (size_t)sprintf(source, "s%u", event->number);
	if (!load || !event->has_source)
		jit.source.size_bytes = 0;
	assert_int_equal(code_map_apply(map, &jit, event->engine, event->time_ns), 0);
}

static void step_event(struct trial *trial, size_t which)
{
	static const uint16_t kinds[] = {
		JIT_EVENT_LOAD,	       JIT_EVENT_LOAD,	      JIT_EVENT_LOAD,
		JIT_EVENT_INLINE_LOAD, JIT_EVENT_INLINE_LOAD, JIT_EVENT_INLINE_LOAD,
		JIT_EVENT_INLINE_LOAD, JIT_EVENT_INLINE_LOAD, JIT_EVENT_INLINE_LOAD,
		JIT_EVENT_UPDATE,      JIT_EVENT_UPDATE_V2,   JIT_EVENT_UNLOAD,
	};
	uint16_t kind = kinds[roll(trial, sizeof(kinds) / sizeof(kinds[0]))];
	struct model_event event = random_event(trial, kind, kind == JIT_EVENT_LOAD ? 24 : 8);
	struct code_model *model = &trial->models[which];

	event.number = ++model->number;
	apply(trial->maps[which], &event);
	switch (kind) {
	case JIT_EVENT_LOAD:
		model_load(model, &event);
		break;
	case JIT_EVENT_INLINE_LOAD:
		model_inline(model, &event, trial->inlines++);
		break;
	case JIT_EVENT_UNLOAD:
		model_unload(model, &event);
		break;
	default:
		model_update(model, &event);
	}
}

/* A gap in which some earlier and later events are live. */
static void step_gap(struct trial *trial, size_t which)
{
	uint64_t from_ns = trial->now_ns, to_ns = from_ns + roll(trial, 5);
	bool live[MODEL_LIVE] = {false};
	uint64_t numbers[MODEL_LIVE];
	size_t count = 0;

	for (uint64_t i = 0; i < MODEL_LIVE && i < trial->sequence + 10; i++) {
		live[i] = roll(trial, 4);
		if (live[i])
			numbers[count++] = i;
	}
	assert_int_equal(code_map_gap(trial->maps[which], from_ns, to_ns, numbers, count), 0);
	/* The model has one gap only: drop events of other gaps. */
	model_gap(&trial->models[which], from_ns, to_ns, live);
}

static void step_fork(struct trial *trial, size_t which, size_t other)
{
	code_map_destroy(trial->maps[other]);
	assert_int_equal(code_map_clone(trial->maps[which], &trial->maps[other]), 0);
	trial->models[other] = trial->models[which];
	/* The child inherits neither waiting inlines nor gaps. */
	trial->models[other].inline_count = 0;
	trial->models[other].has_gap = false;
	for (size_t i = 0; i < trial->models[other].region_count; i++)
		trial->models[other].regions[i].inherited = true;
	trial->pasts[other].from_ns = trial->now_ns;
}

static void hold(struct trial *trial, const struct code_region *region, uint64_t address,
		 const char *text)
{
	struct held *held = &trial->held[trial->held_count++];

	held->region = region;
	held->address = address;
	strcpy(held->text, text);
	space_value_get((struct space_value *)&region->value);
}

/* Compare all addresses at the current time; sometimes a sample takes a reference. */
static void compare_now(struct trial *trial, size_t which)
{
	struct past *past = &trial->pasts[which];

	for (uint64_t unit = 1; unit <= MODEL_UNITS; unit++) {
		const struct code_region *region =
			code_map_find(trial->maps[which], unit, trial->now_ns);
		char want[CODE_TEXT_BYTES] = "nothing", got[CODE_TEXT_BYTES] = "nothing";
		bool stands = model_text(&trial->models[which], unit, want);

		if (region)
			code_text(region, unit, got);
		if (strcmp(want, got) != 0)
			fail_msg("seed %llu, time %llu, map %zu, address %llu: %s, and not %s",
				 (unsigned long long)trial->seed, (unsigned long long)trial->now_ns,
				 which, (unsigned long long)unit, got, want);
		past->stood[trial->now_ns][unit] = stands ? (uint32_t)region->sequence + 1 : 0;
		if (region && trial->held_count < HELD && roll(trial, 200) == 0)
			hold(trial, region, unit, got);
	}
}

static void compare_past(struct trial *trial, size_t which)
{
	const struct past *past = &trial->pasts[which];

	for (uint64_t time_ns = past->from_ns; time_ns <= trial->now_ns; time_ns++) {
		uint64_t unit = 1 + roll(trial, MODEL_UNITS);
		const struct code_region *region = code_map_find(trial->maps[which], unit, time_ns);

		if ((region ? region->sequence + 1 : 0) != past->stood[time_ns][unit])
			fail_msg("seed %llu: at time %llu, address %llu, something else stood",
				 (unsigned long long)trial->seed, (unsigned long long)time_ns,
				 (unsigned long long)unit);
	}
}

static void run_trial(struct trial *trial)
{
	for (size_t step = 0; step < STEPS; step++) {
		size_t which = roll(trial, MAPS), other = roll(trial, MAPS);
		uint64_t kind = roll(trial, 80);

		/* One event per moment, so that its result is unambiguous. */
		trial->now_ns++;
		if (kind == 0) {
			code_model_clear(&trial->models[which]);
			assert_int_equal(code_map_clear(trial->maps[which], trial->now_ns), 0);
		} else if (kind < 3 && which != other) {
			step_fork(trial, which, other);
			compare_now(trial, other);
		} else if (kind < 5 && !(trial->models[which].has_gap &&
					 trial->now_ns <= trial->models[which].gap_to_ns)) {
			step_gap(trial, which);
		} else {
			step_event(trial, which);
		}
		for (size_t i = 0; i < MAPS; i++)
			compare_now(trial, i);
	}
	for (size_t i = 0; i < MAPS; i++) {
		compare_past(trial, i);
		code_map_destroy(trial->maps[i]);
	}
	for (size_t i = 0; i < trial->held_count; i++) {
		struct held *held = &trial->held[i];
		char text[CODE_TEXT_BYTES];

		code_text(held->region, held->address, text);
		assert_string_equal(text, held->text);
		space_value_put((struct space_value *)&held->region->value);
	}
}

static void test_model(void **state)
{
	struct code_model *models = calloc(MAPS, sizeof(*models));
	struct past *pasts = calloc(MAPS, sizeof(*pasts));
	struct model_inline *inlines = calloc(STEPS, sizeof(*inlines));
	struct held *held = calloc(HELD, sizeof(*held));

	assert_true(models && pasts && inlines && held);
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct trial trial = {
			.dice = {seed},
			.seed = seed,
			.models = models,
			.pasts = pasts,
			.inlines = inlines,
			.held = held,
		};

		for (size_t i = 0; i < MAPS; i++) {
			models[i].region_count = models[i].inline_count = models[i].number = 0;
			models[i].has_gap = false;
			pasts[i].from_ns = 1;
			assert_int_equal(code_map_create(&code_budget_default, &trial.next_number,
							 &trial.maps[i]),
					 0);
		}
		run_trial(&trial);
	}
	free(models);
	free(pasts);
	free(inlines);
	free(held);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
