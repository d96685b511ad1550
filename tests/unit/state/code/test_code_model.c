/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random events, applied to a code map and to a simple model of one. */
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>

#include "state/code/code_map_state.h"
#include "state/code/code_region.h"
#include "tests/unit/state/apply_jit.h"
#include "tests/unit/state/code_model.h"

#include "tests/unit/cases.h"
#include "tests/unit/state/space_model.h"

#define MAPS  2
#define STEPS 160
#define HELD  40
#define SEEDS 1500
#define TIMES (2 * STEPS + 8)

/* The load in force at each address at the end of a moment, or 0. */
struct past {
	uint64_t region[TIMES][MODEL_UNITS + 1];
	bool data[TIMES][MODEL_UNITS + 1];
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
	struct code_account *account;
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

static struct model_event random_event(struct trial *trial, uint16_t kind,
				       enum jitbpf_publisher publisher, uint64_t size_max)
{
	static const uint64_t engines[] = {CODE_ENGINE_KNOWN, CODE_ENGINE_KNOWN,
					   CODE_ENGINE_KNOWN | 1, 77};
	uint64_t start = 1 + roll(trial, MODEL_UNITS);
	uint64_t end = start + 1 + roll(trial, size_max);

	return (struct model_event){
		.kind = kind,
		.publisher = publisher,
		.engine = engines[roll(trial, 4)],
		.sequence = trial->sequence++,
		.time_ns = trial->now_ns,
		.id = 1 + (uint32_t)roll(trial, 3),
		.parent_id = (uint32_t)roll(trial, 4),
		.segment = (uint32_t)roll(trial, 5),
		.start = start,
		.end = end <= MODEL_UNITS + 1 ? end : MODEL_UNITS + 1,
	};
}

/* What an event says, beyond where: each made of its number, or nothing. */
static void random_contents(struct trial *trial, struct model_event *event)
{
	event->source = roll(trial, 2) ? event->number : 0;
	event->name = event->number;
	event->lines = event->number;
	if (event->kind == JITBPF_CODE_LINES || event->publisher == JITBPF_PUBLISHER_SHIM)
		return;
	event->name = roll(trial, 4) ? event->number : 0;
	event->lines = roll(trial, 2) ? event->number : 0;
	if (event->publisher == JITBPF_PUBLISHER_PERF_MAP)
		event->id = event->lines = event->source = 0;
}

/* Often, a load describes code that there is or was, and a move moves some. */
static void aim(struct trial *trial, const struct code_model *model, struct model_event *event)
{
	const struct model_region *region;

	if (!model->region_count || roll(trial, 3) == 0)
		return;
	region = &model->regions[model->region_count - 1 -
				 roll(trial, model->region_count < 8 ? model->region_count : 8)];
	if (event->kind == JITBPF_CODE_LOAD) {
		event->start = region->start;
		event->end = region->end;
		if (roll(trial, 2))
			event->name = region->name;
		return;
	}
	event->old_start = region->start;
	event->id = region->claims[event->publisher].id;
}

/* What moves stays within the model's addresses; mostly it is of the size that is said. */
static void aim_move(struct trial *trial, struct code_model *model, struct model_event *event)
{
	const struct model_region *region;
	uint64_t size;

	aim(trial, model, event);
	region = model_beginning_at(model, event->old_start);
	size = region ? region->end - region->start : 0;
	if (event->start + size > MODEL_UNITS + 1)
		event->start = MODEL_UNITS + 1 - size;
	if (roll(trial, 4))
		event->end = event->start + (roll(trial, 3) ? size : 0);
	else if (event->end < event->start)
		event->end = event->start;
}

static size_t put_number(char *text, char letter, uint32_t number)
{
	return number ? (size_t)sprintf(text, "%c%u", letter, number) : 0;
}

static void apply(struct trial *trial, size_t which, const struct model_event *event)
{
	uint32_t size = (uint32_t)(event->end - event->start), line = event->lines * 2;
	struct jitbpf_code_line lines[] = {{(size + 1) / 2, line}, {size, line + 1}};
	char name[16], source[16];
	struct code_event out = {
		.origin = {.publisher = event->publisher,
			   .engine = event->engine,
			   .sequence = event->sequence},
		.kind = event->kind,
		.time_ns = event->time_ns,
		.reported_ns = event->time_ns,
		.since_ns = event->since_ns,
		.method_id = event->id,
		.parent_id = event->parent_id,
		.address = event->start,
		.old_address = event->old_start,
		.size_bytes = size,
		.name = {name, 0},
		.source = {source, 0},
		.lines = lines,
		.line_count = event->lines ? 2 : 0,
		.segment = event->segment,
	};
	bool inlined = event->kind == JITBPF_CODE_INLINE;

	out.flags |= event->late ? JITBPF_EVENT_LATE : 0;
	out.flags |= event->is_segment ? JITBPF_EVENT_SEGMENT : 0;
	out.name.size_bytes = put_number(name, inlined ? 'i' : 'm', event->name);
	out.source.size_bytes = inlined ? 0 : put_number(source, 's', event->source);
	assert_int_equal(code_map_apply(trial->maps[which], trial->account, &out), 0);
}

/*
 * A late load is in force from when its range became free, at its since_ns at the earliest,
 * but not from before the map was made or cleared.
 */
static void late_load_was(struct trial *trial, size_t which, const struct model_event *event)
{
	struct past *past = &trial->pasts[which];
	const struct code_region *region =
		code_map_find(trial->maps[which], event->start, trial->now_ns);
	uint64_t from_ns = trial->now_ns;
	bool is_free = true;

	for (uint64_t time_ns = trial->now_ns; is_free && time_ns-- > past->from_ns;) {
		for (uint64_t unit = event->start; unit < event->end; unit++)
			is_free &= !past->region[time_ns][unit];
		is_free &= time_ns >= event->since_ns && time_ns >= trial->models[which].cleared_ns;
		if (is_free)
			from_ns = time_ns;
	}
	for (uint64_t time_ns = from_ns; time_ns < trial->now_ns; time_ns++) {
		for (uint64_t unit = event->start; unit < event->end; unit++)
			past->region[time_ns][unit] = code_region_identity(region);
	}
}

static void step_load(struct trial *trial, size_t which, struct model_event *event)
{
	struct code_model *model = &trial->models[which];
	size_t regions = model->region_count;

	event->late = event->publisher == JITBPF_PUBLISHER_SHIM && roll(trial, 4) == 0;
	if (event->late)
		event->since_ns = roll(trial, trial->now_ns + 1);
	aim(trial, model, event);
	apply(trial, which, event);
	model_load(model, event);
	if (event->late && model->region_count > regions)
		late_load_was(trial, which, event);
}

static void step_event(struct trial *trial, size_t which)
{
	static const struct {
		uint16_t kind;
		uint16_t publisher;
		uint16_t size_max;
	} kinds[] = {
		{JITBPF_CODE_LOAD, JITBPF_PUBLISHER_SHIM, 24},
		{JITBPF_CODE_LOAD, JITBPF_PUBLISHER_SHIM, 24},
		{JITBPF_CODE_LOAD, JITBPF_PUBLISHER_JITDUMP, 24},
		{JITBPF_CODE_LOAD, JITBPF_PUBLISHER_PERF_MAP, 24},
		{JITBPF_CODE_INLINE, JITBPF_PUBLISHER_SHIM, 8},
		{JITBPF_CODE_INLINE, JITBPF_PUBLISHER_SHIM, 8},
		{JITBPF_CODE_INLINE, JITBPF_PUBLISHER_SHIM, 8},
		{JITBPF_CODE_INLINE, JITBPF_PUBLISHER_SHIM, 8},
		{JITBPF_CODE_INLINE, JITBPF_PUBLISHER_SHIM, 8},
		{JITBPF_CODE_UPDATE, JITBPF_PUBLISHER_SHIM, 8},
		{JITBPF_CODE_UPDATE, JITBPF_PUBLISHER_SHIM, 8},
		{JITBPF_CODE_MOVE, JITBPF_PUBLISHER_JITDUMP, 24},
		{JITBPF_CODE_LINES, JITBPF_PUBLISHER_JITDUMP, 24},
		{JITBPF_CODE_UNLOAD, JITBPF_PUBLISHER_SHIM, 8},
		{JITBPF_CODE_UNLOAD, JITBPF_PUBLISHER_JITDUMP, 8},
	};
	size_t i = roll(trial, sizeof(kinds) / sizeof(kinds[0]));
	struct model_event event =
		random_event(trial, kinds[i].kind, kinds[i].publisher, kinds[i].size_max);
	struct code_model *model = &trial->models[which];

	event.number = ++model->number;
	event.is_segment = event.kind == JITBPF_CODE_UPDATE && roll(trial, 2);
	random_contents(trial, &event);
	if (event.kind == JITBPF_CODE_LOAD) {
		step_load(trial, which, &event);
		return;
	}
	if (event.kind == JITBPF_CODE_MOVE)
		aim_move(trial, model, &event);
	if (event.kind == JITBPF_CODE_LINES && roll(trial, 2) && model->region_count)
		event.start = model->regions[model->region_count - 1].start;
	if (event.kind == JITBPF_CODE_UNLOAD && roll(trial, 3) == 0)
		event.id = 0;
	/* A table is of all of the region's code. */
	if (event.kind == JITBPF_CODE_LINES) {
		const struct model_region *region = code_model_at(model, event.start);

		event.end = region ? region->end : event.end;
	}
	apply(trial, which, &event);
	switch (event.kind) {
	case JITBPF_CODE_INLINE:
		model_inline(model, &event, trial->inlines++);
		break;
	case JITBPF_CODE_UNLOAD:
		model_unload(model, &event);
		break;
	case JITBPF_CODE_MOVE:
		model_move(model, &event);
		break;
	case JITBPF_CODE_LINES:
		model_lines(model, &event);
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
	assert_int_equal(
		apply_shim_gap(trial->maps[which], trial->account, from_ns, to_ns, numbers, count),
		0);
	/* The model has one gap only: drop events of other gaps. */
	model_gap(&trial->models[which], from_ns, to_ns, live);
}

static void step_fork(struct trial *trial, size_t which, size_t other)
{
	code_map_destroy(trial->maps[other]);
	assert_int_equal(code_map_clone(trial->maps[which], &trial->maps[other]), 0);
	trial->models[other] = trial->models[which];
	code_model_inherit(&trial->models[other]);
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

static void note_past(struct trial *trial, size_t which, uint64_t unit)
{
	struct past *past = &trial->pasts[which];
	const struct code_region *region = code_map_next(trial->maps[which], unit);
	const struct model_region *known = code_model_at(&trial->models[which], unit);

	past->region[trial->now_ns][unit] =
		region && region->address <= unit ? code_region_identity(region) : 0;
	past->data[trial->now_ns][unit] = known && known->data[unit];
}

/* Compare every address now; now and then a sample holds a region. */
static void compare_now(struct trial *trial, size_t which)
{
	for (uint64_t unit = 1; unit <= MODEL_UNITS; unit++) {
		const struct code_region *region =
			code_map_find(trial->maps[which], unit, trial->now_ns);
		char want[CODE_TEXT_BYTES] = "nothing", got[CODE_TEXT_BYTES] = "nothing";

		model_text(&trial->models[which], unit, want);
		if (region)
			code_text(region, unit, got);
		if (strcmp(want, got) != 0)
			fail_msg("seed %llu, time %llu, map %zu, address %llu: %s, and not %s",
				 (unsigned long long)trial->seed, (unsigned long long)trial->now_ns,
				 which, (unsigned long long)unit, got, want);
		note_past(trial, which, unit);
		if (region && trial->held_count < HELD && roll(trial, 200) == 0)
			hold(trial, region, unit, got);
	}
}

struct live {
	uint64_t first_number, bytes;
};

static int add_live(void *context, const struct code_region *region)
{
	struct live *live = context;

	if (region->number >= live->first_number)
		live->bytes += region->size_bytes;
	return 0;
}

/* The account has the bytes of the code in force, without what maps have inherited. */
static void compare_live(const struct trial *trial)
{
	struct live live = {0};

	for (size_t i = 0; i < MAPS; i++) {
		live.first_number = trial->maps[i]->first_number;
		assert_int_equal(code_map_for_each(trial->maps[i], add_live, &live), 0);
	}
	assert_int_equal(trial->account->live_bytes, live.bytes);
}

static void compare_past(struct trial *trial, size_t which)
{
	const struct past *past = &trial->pasts[which];

	for (uint64_t time_ns = past->from_ns; time_ns <= trial->now_ns; time_ns++) {
		uint64_t unit = 1 + roll(trial, MODEL_UNITS);
		const struct code_region *region = code_map_find(trial->maps[which], unit, time_ns);

		uint64_t want = past->data[time_ns][unit] ? 0 : past->region[time_ns][unit];

		if ((region ? code_region_identity(region) : 0) != want)
			fail_msg("seed %llu: at time %llu, address %llu, another region",
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
			code_model_clear(&trial->models[which], trial->now_ns);
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
		for (size_t i = 0; i < MAPS; i++) {
			code_model_sweep(&trial->models[i], trial->now_ns);
			compare_now(trial, i);
		}
		compare_live(trial);
	}
	for (size_t i = 0; i < MAPS; i++) {
		compare_past(trial, i);
		code_map_destroy(trial->maps[i]);
	}
	assert_int_equal(trial->account->live_bytes, 0);
	for (size_t i = 0; i < trial->held_count; i++) {
		struct held *held = &trial->held[i];
		char text[CODE_TEXT_BYTES];

		code_text(held->region, held->address, text);
		assert_string_equal(text, held->text);
		space_value_put((struct space_value *)&held->region->value);
	}
}

CASE(test_model)
{
	struct code_model *models = calloc(MAPS, sizeof(*models));
	struct past *pasts = calloc(MAPS, sizeof(*pasts));
	struct model_inline *inlines = calloc(STEPS, sizeof(*inlines));
	struct held *held = calloc(HELD, sizeof(*held));

	uint64_t merged = 0, moves = 0;

	assert_true(models && pasts && inlines && held);
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct trial trial = {
			.dice = {seed},
			.seed = seed,
			.account = make_account(&code_budget_default),
			.models = models,
			.pasts = pasts,
			.inlines = inlines,
			.held = held,
		};

		for (size_t i = 0; i < MAPS; i++) {
			models[i].region_count = models[i].inline_count = models[i].number = 0;
			models[i].has_gap = false;
			models[i].cleared_ns = 0;
			pasts[i].from_ns = 1;
			assert_int_equal(code_map_create(&trial.next_number, &trial.maps[i]), 0);
		}
		run_trial(&trial);
		merged += trial.account->counts.merged;
		moves += trial.account->counts.moves;
		code_account_put(trial.account);
	}
	assert_true(merged > 10 * SEEDS && moves > SEEDS);
	free(models);
	free(pasts);
	free(inlines);
	free(held);
}
