/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <stdlib.h>

#include "state/space/space_map.h"
#include "tests/unit/cases.h"
#include "tests/unit/state/counted_value.h"
#include "tests/unit/state/space_model.h"

/* Insert a new value with one reference, that of the map. */
static struct space_value *put(struct space_map *map, uint64_t start, uint64_t end,
			       uint64_t time_ns, size_t *living)
{
	struct space_value *value = counted_create(living);

	assert_int_equal(space_map_insert(map, start, end, time_ns, value), 0);
	space_value_put(value);
	return value;
}

static const struct space_value *at(const struct space_map *map, uint64_t address, uint64_t time_ns)
{
	struct space_entry entry = {.value = NULL};

	return space_map_find(map, address, time_ns, &entry) ? entry.value : NULL;
}

static struct space_map *create(enum space_overlap overlap)
{
	struct space_map *map;

	assert_int_equal(space_map_create(overlap, &map), 0);
	return map;
}

CASE(test_overwrite_ends_whole)
{
	struct space_map *map = create(SPACE_END_WHOLE);
	size_t living = 0;
	const void *a = put(map, 100, 200, 10, &living);
	const void *b = put(map, 150, 160, 20, &living);

	assert_null(at(map, 100, 9));
	assert_ptr_equal(at(map, 100, 10), a);
	assert_ptr_equal(at(map, 199, 19), a);
	assert_null(at(map, 200, 19));
	assert_null(at(map, 199, 20));
	assert_ptr_equal(at(map, 159, 20), b);
	assert_null(at(map, 160, 20));
	assert_int_equal(space_map_size(map), 1);
	assert_int_equal(space_map_history(map), 1);
	space_map_forget(map, 20);
	assert_int_equal(space_map_history(map), 1);
	space_map_forget(map, 21);
	assert_int_equal(space_map_history(map), 0);
	assert_null(at(map, 100, 10));
	assert_int_equal(living, 1);
	space_map_destroy(map);
	assert_int_equal(living, 0);
}

CASE(test_cut_keeps_the_rest)
{
	struct space_map *map = create(SPACE_CUT);
	struct space_entry entry;
	size_t living = 0;
	const void *a = put(map, 100, 200, 10, &living);
	const void *b = put(map, 150, 160, 20, &living);

	assert_ptr_equal(at(map, 155, 15), a);
	assert_ptr_equal(at(map, 149, 20), a);
	assert_ptr_equal(at(map, 150, 20), b);
	assert_true(space_map_find(map, 160, 12, &entry));
	assert_ptr_equal(entry.value, a);
	assert_int_equal(entry.start, 160);
	assert_int_equal(entry.end, 200);
	assert_int_equal(entry.from_ns, 10);
	assert_true(entry.to_ns == UINT64_MAX);
	assert_int_equal(space_map_size(map), 3);
	space_map_destroy(map);
	assert_int_equal(living, 0);
}

CASE(test_late)
{
	struct space_map *map = create(SPACE_END_WHOLE);
	struct space_entry entry;
	size_t living = 0;
	const void *a = put(map, 100, 200, 10, &living);
	const void *c = put(map, 150, 250, 30, &living);
	const void *b = put(map, 100, 160, 20, &living);

	assert_ptr_equal(at(map, 155, 15), a);
	assert_ptr_equal(at(map, 155, 25), b);
	assert_ptr_equal(at(map, 155, 30), c);
	assert_null(at(map, 100, 30));
	assert_true(space_map_find(map, 100, 20, &entry));
	assert_int_equal(entry.to_ns, 30);
	/* An entry that has ended since then limits a late one as well. */
	assert_int_equal(space_map_end(map, 150, c, 40), 1);
	b = put(map, 240, 260, 25, &living);
	assert_ptr_equal(at(map, 245, 29), b);
	assert_null(at(map, 255, 30));
	assert_null(at(map, 245, 50));
	space_map_destroy(map);
	assert_int_equal(living, 0);
}

CASE(test_late_cut)
{
	struct space_map *map = create(SPACE_CUT);
	size_t living = 0;
	const void *newer = put(map, 150, 160, 30, &living);
	const void *late = put(map, 100, 200, 20, &living);

	assert_ptr_equal(at(map, 155, 25), late);
	assert_ptr_equal(at(map, 155, 30), newer);
	assert_ptr_equal(at(map, 149, 40), late);
	assert_ptr_equal(at(map, 160, 40), late);
	space_map_destroy(map);
	assert_int_equal(living, 0);
}

/* The maximum time means "still in force": no change can have that time. */
CASE(test_end_of_time)
{
	struct space_map *map = create(SPACE_END_WHOLE);
	size_t living = 0;
	const void *newest = put(map, 100, 200, UINT64_MAX, &living);
	const void *late = put(map, 150, 250, 5, &living);

	assert_int_equal(space_map_size(map), 1);
	assert_ptr_equal(at(map, 150, UINT64_MAX), newest);
	assert_null(at(map, 200, UINT64_MAX));
	assert_ptr_equal(at(map, 200, 5), late);
	assert_int_equal(space_map_end(map, 100, newest, UINT64_MAX), 1);
	assert_null(at(map, 150, UINT64_MAX));
	space_map_destroy(map);
	assert_int_equal(living, 0);
}

CASE(test_end)
{
	struct space_map *map = create(SPACE_END_WHOLE);
	size_t living = 0;
	const void *a = put(map, 100, 200, 10, &living);
	uint64_t generation = space_map_generation(map);

	assert_int_equal(space_map_end(map, 101, a, 20), 0);
	assert_int_equal(space_map_end(map, 100, NULL, 20), 0);
	assert_int_equal(space_map_end(map, 100, a, 9), 0);
	assert_int_equal(space_map_generation(map), generation);
	assert_int_equal(space_map_end(map, 100, a, 20), 1);
	assert_int_equal(space_map_generation(map), generation + 1);
	assert_int_equal(space_map_end(map, 100, a, 21), 0);
	assert_ptr_equal(at(map, 150, 19), a);
	assert_null(at(map, 150, 20));
	/* A lifetime of length 0 leaves no history. */
	a = put(map, 100, 200, 30, &living);
	assert_int_equal(space_map_end(map, 100, a, 30), 1);
	assert_int_equal(space_map_history(map), 1);
	assert_int_equal(living, 1);
	space_map_destroy(map);
	assert_int_equal(living, 0);
}

CASE(test_edges)
{
	struct space_map *map = create(SPACE_CUT);
	struct space_entry entry = {.start = 7};
	size_t living = 0;
	struct space_value *value = counted_create(&living);
	const void *top;

	assert_int_equal(space_map_insert(map, 5, 5, 1, value), -EINVAL);
	assert_int_equal(space_map_insert(map, 5, 4, 1, value), -EINVAL);
	assert_int_equal(value->refs, 1);
	space_value_put(value);
	assert_false(space_map_find(map, 5, 1, &entry));
	assert_false(space_map_next(map, 0, &entry));
	assert_int_equal(entry.start, 7);
	top = put(map, 0, UINT64_MAX, 0, &living);
	assert_ptr_equal(at(map, 0, 0), top);
	assert_ptr_equal(at(map, UINT64_MAX - 1, UINT64_MAX), top);
	assert_null(at(map, UINT64_MAX, 0));
	space_map_destroy(map);
	space_map_destroy(NULL);
	assert_int_equal(living, 0);
}

CASE(test_clear_spares_the_newer)
{
	struct space_map *map = create(SPACE_END_WHOLE);
	size_t living = 0;
	const void *old = put(map, 100, 200, 10, &living);
	const void *new = put(map, 300, 400, 30, &living);
	const void *late;

	assert_int_equal(space_map_clear(map, 20), 0);
	assert_ptr_equal(at(map, 100, 19), old);
	assert_null(at(map, 100, 20));
	assert_ptr_equal(at(map, 300, 30), new);
	/* A change that arrives after a clear but is from before it is cleared too. */
	late = put(map, 500, 600, 15, &living);
	assert_ptr_equal(at(map, 500, 19), late);
	assert_null(at(map, 500, 20));
	space_map_destroy(map);
	assert_int_equal(living, 0);
}

/* A late change is compared with a limited number of later changes. */
CASE(test_lateness_is_limited)
{
	struct space_map *map = create(SPACE_END_WHOLE);
	struct space_entry entry = {.value = NULL};
	size_t living = 0, count = 8 * SPACE_LATE_MAX + 500;
	const void *late;

	for (uint64_t i = 1; i <= count; i++)
		put(map, i * 10, i * 10 + 10, i, &living);
	late = put(map, 1, UINT64_MAX, 0, &living);
	assert_true(space_map_size(map) <= 3 * SPACE_LATE_MAX);
	assert_true(space_map_size(map) >= SPACE_LATE_MAX);
	for (uint64_t time_ns = count - 3 * SPACE_LATE_MAX; time_ns <= count; time_ns++) {
		if (space_map_find(map, UINT64_MAX - 1, time_ns, &entry))
			break;
	}
	assert_ptr_equal(entry.value, late);
	assert_in_range(entry.from_ns, count - 3 * SPACE_LATE_MAX, count - SPACE_LATE_MAX);
	/* It has ended thousands of entries; going through all of them once must suffice. */
	late = put(map, 5, 6, 0, &living);
	assert_true(space_map_find(map, 5, UINT64_MAX, &entry));
	assert_ptr_equal(entry.value, late);
	assert_int_equal(entry.from_ns, count);
	space_map_destroy(map);
	assert_int_equal(living, 0);
}

CASE(test_storm_on_few_addresses)
{
	struct space_map *map = create(SPACE_END_WHOLE);
	size_t living = 0;

	for (uint64_t i = 1; i <= 100000; i++) {
		put(map, i % 16 * 4096, i % 16 * 4096 + 100, i, &living);
		if (i % 500 == 0)
			space_map_forget(map, i - 400);
	}
	assert_int_equal(space_map_size(map), 16);
	assert_int_equal(space_map_history(map), 401);
	assert_int_equal(living, 417);
	space_map_destroy(map);
	assert_int_equal(living, 0);
}

/* --- random sequences against the model --------------------------------------- */

#define UNITS 48
#define MAPS  3
#define STEPS 250

struct trial {
	enum space_overlap overlap;
	struct dice dice;
	struct space_map *maps[MAPS];
	struct model *models; /* MAPS of them */
	size_t living;
	uint64_t now_ns;
};

/* For the model, a range that can be cut is a separate range for each unit. */
static void trial_model_insert(struct trial *trial, struct model *model, uint64_t start,
			       uint64_t end, uint64_t time_ns, const void *value)
{
	if (trial->overlap == SPACE_END_WHOLE) {
		model_insert(model, start, end, time_ns, value);
		return;
	}
	for (uint64_t unit = start; unit < end; unit++)
		model_insert(model, unit, unit + 1, time_ns, value);
}

static uint64_t trial_time(struct trial *trial)
{
	uint64_t late = dice_roll(&trial->dice, 4) ? 0 : dice_roll(&trial->dice, 20);

	trial->now_ns += dice_roll(&trial->dice, 3);
	return late < trial->now_ns ? trial->now_ns - late : 0;
}

static void trial_step(struct trial *trial)
{
	size_t which = dice_roll(&trial->dice, MAPS), other = dice_roll(&trial->dice, MAPS);
	struct space_map *map = trial->maps[which];
	struct model *model = &trial->models[which];
	uint64_t start = dice_roll(&trial->dice, UNITS), time_ns = trial_time(trial);
	uint64_t end = start + 1 + dice_roll(&trial->dice, dice_roll(&trial->dice, 8) ? 6 : UNITS);
	struct space_entry entry;
	const void *value;

	switch (dice_roll(&trial->dice, 40)) {
	case 0:
		assert_int_equal(space_map_clear(map, time_ns), 0);
		model_clear(model, time_ns);
		break;
	case 1:
		space_map_forget(map, time_ns);
		model_forget(model, time_ns);
		break;
	case 2:
		if (which == other)
			break;
		space_map_destroy(trial->maps[other]);
		assert_int_equal(space_map_clone(map, &trial->maps[other]), 0);
		model_clone(model, &trial->models[other]);
		break;
	case 3 ... 9:
		if (!space_map_next(map, start, &entry))
			break;
		assert_int_equal(space_map_end(map, entry.start, entry.value, time_ns),
				 entry.from_ns <= time_ns);
		model_end(model, entry.start, entry.end, entry.value, time_ns);
		break;
	default:
		value = put(map, start, end, time_ns, &trial->living);
		trial_model_insert(trial, model, start, end, time_ns, value);
	}
}

static void trial_compare(struct trial *trial, size_t which)
{
	struct space_map *map = trial->maps[which];
	const struct model *model = &trial->models[which];

	for (size_t i = 0; i < 60; i++) {
		uint64_t address = dice_roll(&trial->dice, UNITS + 8);
		uint64_t time_ns = dice_roll(&trial->dice, trial->now_ns + 5);
		const struct model_entry *want = model_find(model, address, time_ns);
		struct space_entry got;

		assert_int_equal(space_map_find(map, address, time_ns, &got), want != NULL);
		if (!want)
			continue;
		assert_ptr_equal(got.value, want->value);
		assert_int_equal(got.from_ns, want->from_ns);
		assert_int_equal(got.to_ns, want->to_ns);
		assert_true(got.start <= want->start && want->end <= got.end);
	}
	if (trial->overlap == SPACE_END_WHOLE) {
		assert_int_equal(space_map_size(map), model_living(model));
		assert_int_equal(space_map_history(map), model->size - model_living(model));
	}
}

static void run_trials(enum space_overlap overlap, size_t count)
{
	struct model *models = calloc(MAPS, sizeof(*models));

	assert_non_null(models);
	for (size_t seed = 0; seed < count; seed++) {
		struct trial trial = {.overlap = overlap, .dice = {seed}, .models = models};

		for (size_t i = 0; i < MAPS; i++) {
			models[i].size = models[i].cleared_ns = 0;
			trial.maps[i] = create(overlap);
		}
		for (size_t step = 0; step < STEPS; step++) {
			trial_step(&trial);
			if (step % 10 == 9)
				trial_compare(&trial, step / 10 % MAPS);
		}
		for (size_t i = 0; i < MAPS; i++) {
			trial_compare(&trial, i);
			space_map_destroy(trial.maps[i]);
		}
		assert_int_equal(trial.living, 0);
	}
	free(models);
}

CASE(test_model_whole)
{
	run_trials(SPACE_END_WHOLE, 1500);
}

CASE(test_model_cut)
{
	run_trials(SPACE_CUT, 1000);
}

static const void *from(const struct space_map *map, uint64_t address, uint64_t time_ns)
{
	struct space_entry entry = {.value = NULL};

	return space_map_find_from(map, address, time_ns, &entry) ? entry.value : NULL;
}

/* What came to an address after a time, also if that has ended, too. */
CASE(test_find_from)
{
	struct space_map *map = create(SPACE_END_WHOLE);
	size_t living = 0;
	const void *a = put(map, 100, 200, 10, &living), *b, *c;

	assert_false(space_map_has_ended_since(map, 0));
	b = put(map, 150, 300, 20, &living);
	assert_int_equal(space_map_end(map, 150, b, 30), 1);
	c = put(map, 150, 160, 40, &living);
	assert_ptr_equal(from(map, 150, 0), a);
	assert_ptr_equal(from(map, 150, 11), b);
	assert_ptr_equal(from(map, 150, 20), b);
	assert_ptr_equal(from(map, 150, 21), c);
	assert_null(from(map, 150, 41));
	assert_null(from(map, 299, 21));
	assert_null(from(map, 150, UINT64_MAX));
	assert_true(space_map_has_ended_since(map, 29));
	assert_false(space_map_has_ended_since(map, 30));
	space_map_destroy(map);
	assert_int_equal(living, 0);
}
