/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>

#include "base/scope.h"
#include "sink/annotate/function_search.h"
#include "tests/unit/cases.h"
#include "tests/unit/sink/made_view.h"

static uint32_t place(struct made_view *m, uint64_t start, uint64_t offset, const char *name)
{
	uint32_t location = made_location(m, LOCATION_NATIVE, 3, start + offset);
	struct frame frame = made_frame(m, FRAME_KIND_NATIVE, name, "/bin/prog");

	frame.symbol_offset = offset;
	assert_int_equal(frame_table_set(m->frames, location, &frame, 1), 0);
	return location;
}

/* Returns the result of a search in steps of `max` items, and how many there were. */
static int search_all(struct made_view *m, uint32_t location, uint32_t max,
		      struct function_search *search, struct function_samples *ret)
{
	int err = function_search_begin(search, &m->view, m->view.epoch, location), steps = 0;

	do
		err = err ?: function_search_step(search, &m->view, max);
	while (err > 0 && !(err = 0) && ++steps < 1000);
	assert_true(steps < 1000);
	return err ?: function_search_result(search, &m->view, ret);
}

CASE(samples_are_those_of_the_function)
{
	CLEANUP(made_deinit) struct made_view m;
	uint32_t a, b, other, kernel;

	made_init(&m);
	a = place(&m, 0x100, 4, "hot");
	b = place(&m, 0x100, 9, "hot");
	other = place(&m, 0x900, 1, "cold");
	kernel = made_named(&m, LOCATION_KERNEL, 0x5000, "hot", "/bin/prog"); /* of another kind */
	made_stack(&m, 0, "prog", 5, STACK(a, other));
	made_stack(&m, 0, "prog", 7, STACK(b));
	made_stack(&m, 0, "prog", 2, STACK(b, other));
	made_stack(&m, 0, "prog", 3, STACK(other, a));
	made_stack(&m, 0, "prog", 1, STACK(kernel, a));
	for (uint32_t max = 1; max < 100; max += 33) {
		CLEANUP(function_search_deinit) struct function_search search = {0};
		CLEANUP(function_samples_deinit) struct function_samples samples = {0};

		assert_int_equal(search_all(&m, a, max, &search, &samples), 0);
		assert_int_equal(samples.total, 18);
		assert_int_equal(samples.functions.size, 1);
		assert_int_equal(samples.functions.data[0].samples, 14);
		assert_int_equal(samples.functions.data[0].count, 2);
		assert_int_equal(samples.places.data[0].offset, 4);
		assert_int_equal(samples.places.data[0].samples, 5);
		assert_int_equal(samples.places.data[1].samples, 9);
	}
}

/* Two codes of one name, as of a function that is compiled again. */
CASE(generations_are_found)
{
	CLEANUP(made_deinit) struct made_view m;
	CLEANUP(function_search_deinit) struct function_search search = {0};
	CLEANUP(function_samples_deinit) struct function_samples samples = {0};
	uint32_t a, b;

	made_init(&m);
	a = place(&m, 0x100, 4, "hot");
	b = place(&m, 0x700, 8, "hot");
	made_stack(&m, 0, "prog", 5, STACK(a));
	made_stack(&m, 0, "prog", 6, STACK(b));
	assert_int_equal(search_all(&m, b, 1, &search, &samples), 0);
	assert_int_equal(samples.functions.size, 2);
	assert_int_equal(samples.functions.data[0].start, 0x100);
	assert_int_equal(samples.functions.data[1].samples, 6);
}

/* The profile grows during the search: new nodes count, new locations do not. */
CASE(the_profile_may_grow)
{
	CLEANUP(made_deinit) struct made_view m;
	CLEANUP(function_search_deinit) struct function_search search = {0};
	CLEANUP(function_samples_deinit) struct function_samples samples = {0};
	uint32_t a, more;
	int state_;

	made_init(&m);
	a = place(&m, 0x100, 4, "hot");
	made_stack(&m, 0, "prog", 5, STACK(a));
	assert_int_equal(function_search_begin(&search, &m.view, 0, a), 0);
	assert_int_equal(function_search_step(&search, &m.view, 1), 1);
	more = place(&m, 0x100, 6, "hot");
	made_stack(&m, 0, "prog", 2, STACK(more));
	made_stack(&m, 0, "prog", 3, STACK(a, more));
	while ((state_ = function_search_step(&search, &m.view, 1)) > 0)
		;
	assert_int_equal(state_, 0);
	assert_int_equal(function_search_result(&search, &m.view, &samples), 0);
	assert_int_equal(samples.functions.data[0].samples, 8);
	assert_int_equal(samples.total, 10);
}

/* Numbers are a browser's: of no location, or of another epoch. */
CASE(any_number_is_allowed)
{
	CLEANUP(made_deinit) struct made_view m;
	CLEANUP(function_search_deinit) struct function_search search = {0};
	CLEANUP(function_samples_deinit) struct function_samples samples = {0};
	uint32_t a, unknown, caller;

	made_init(&m);
	a = place(&m, 0x100, 4, "hot");
	caller = place(&m, 0x900, 4, "caller");
	unknown = made_location(&m, LOCATION_UNKNOWN, 0, 1);
	made_stack(&m, 0, "prog", 5, STACK(a, caller));
	assert_int_equal(function_search_begin(&search, &m.view, 0, 3), -ENOENT);
	assert_int_equal(function_search_begin(&search, &m.view, 0, UINT32_MAX), -ENOENT);
	assert_int_equal(function_search_begin(&search, &m.view, 0, unknown), -ENOENT);
	assert_int_equal(function_search_begin(&search, &m.view, 1, a), -ESTALE);
	/* It has no samples of its own. */
	assert_int_equal(search_all(&m, caller, 10, &search, &samples), -ENOENT);
	function_search_deinit(&search);
	/* The epoch ends during the search. */
	assert_int_equal(function_search_begin(&search, &m.view, 0, a), 0);
	m.view.epoch = 1;
	assert_int_equal(function_search_step(&search, &m.view, 10), -ESTALE);
	assert_int_equal(function_search_result(&search, &m.view, &samples), -ESTALE);
}

/* Anybody can give all their code one name: what the event loop does for it at once is bounded. */
CASE(locations_of_a_function_are_bounded)
{
	CLEANUP(made_deinit) struct made_view m;
	CLEANUP(function_search_deinit) struct function_search search = {0};
	CLEANUP(function_samples_deinit) struct function_samples samples = {0};
	uint32_t last = 0;

	made_init(&m);
	for (uint32_t i = 0; i < FUNCTION_SEARCH_MAX + 100; i++) {
		last = place(&m, 0x100, i, "hot");
		made_stack(&m, 0, "prog", 1, STACK(last));
	}
	assert_int_equal(search_all(&m, last, 10000, &search, &samples), 0);
	assert_int_equal(samples.functions.data[0].count, FUNCTION_SEARCH_MAX);
	assert_int_equal(samples.total, FUNCTION_SEARCH_MAX + 100);
}

static uint32_t method(struct made_view *m, enum location_kind kind, enum frame_kind frame_kind,
		       uint64_t number)
{
	uint32_t location = made_location(m, kind, number, 4);
	struct frame frame = made_frame(m, frame_kind, "Shop.price", "[jit]");

	assert_int_equal(frame_table_set(m->frames, location, &frame, 1), 0);
	return location;
}

/* A virtual machine has interpreted a method, and then compiled it. */
CASE(both_kinds_of_code_of_a_method_are_found)
{
	CLEANUP(made_deinit) struct made_view m;
	uint32_t places[2];

	made_init(&m);
	places[0] = method(&m, LOCATION_RUNTIME, FRAME_KIND_INTERPRETED, 1);
	places[1] = method(&m, LOCATION_JIT, FRAME_KIND_JIT, 2);
	made_stack(&m, 0, "java", 1, STACK(places[0]));
	made_stack(&m, 0, "java", 9, STACK(places[1]));
	for (size_t i = 0; i < 2; i++) {
		CLEANUP(function_search_deinit) struct function_search search = {0};
		CLEANUP(function_samples_deinit) struct function_samples samples = {0};

		assert_int_equal(search_all(&m, places[i], 1, &search, &samples), 0);
		assert_int_equal(search.found.size, 2);
		assert_int_equal(search.found.data[0].samples + search.found.data[1].samples, 10);
		assert_int_equal(samples.total, 10);
	}
}
