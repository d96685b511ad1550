/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "symbolize/frame_table.h"
#include "tests/unit/cases.h"

static struct string_pool *strings;
static struct frame_table *table;

static int setup(void **state)
{
	return string_pool_create(&strings) || frame_table_create(strings, &table) ? -1 : 0;
}

static int teardown(void **state)
{
	frame_table_destroy(table);
	string_pool_destroy(strings);
	return 0;
}

static void assert_frames(uint32_t location, uint32_t first_line, uint32_t count)
{
	uint32_t found_count = 99;
	const struct frame *found = frame_table_get(table, location, &found_count);

	assert_int_equal(found_count, count);
	if (!count)
		assert_null(found);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(found[i].line, first_line + i);
}

CASE_WITH(keeps_what_it_is_given, setup, teardown)
{
	struct frame frames[3] = {{.line = 10}, {.line = 11}, {.line = 12}};

	assert_frames(0, 0, 0);
	assert_int_equal(frame_table_set(table, 5, frames, 3), 0);
	assert_int_equal(frame_table_set(table, 0, frames + 1, 1), 0);
	assert_int_equal(frame_table_set(table, 1000, frames + 2, 1), 0);
	frames[0].line = frames[1].line = 77;
	assert_frames(5, 10, 3);
	assert_frames(0, 11, 1);
	assert_frames(1000, 12, 1);
	for (uint32_t location = 6; location < 1000; location++)
		assert_frames(location, 0, 0);
	assert_frames(1001, 0, 0);
	assert_frames(UINT32_MAX, 0, 0);
}

CASE_WITH(frames_are_set_once, setup, teardown)
{
	struct frame frames[2] = {{.line = 1}, {.line = 2}};

	assert_int_equal(frame_table_set(table, 3, frames, 0), -EINVAL);
	assert_frames(3, 0, 0);
	assert_int_equal(frame_table_set(table, 3, frames, 1), 0);
	assert_int_equal(frame_table_set(table, 3, frames, 2), -EEXIST);
	assert_frames(3, 1, 1);
}

CASE_WITH(a_stand_in_is_replaced_by_frames, setup, teardown)
{
	struct frame frames[2] = {{.line = 1}, {.line = 2}}, stand_in = {.line = 50};
	const uint32_t *named;
	size_t count;

	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(frame_table_set_stand_in(table, i, &stand_in), 0);
	assert_frames(1, 50, 1);
	assert_false(frame_table_is_named(table, 1));
	assert_false(frame_table_is_named(table, 7));
	frame_table_named(table, &count);
	assert_int_equal(count, 0);
	/* As many frames, and more. */
	assert_int_equal(frame_table_set(table, 1, frames + 1, 1), 0);
	assert_int_equal(frame_table_set(table, 0, frames, 2), 0);
	assert_int_equal(frame_table_set(table, 9, frames, 1), 0);
	assert_frames(0, 1, 2);
	assert_frames(1, 2, 1);
	assert_frames(2, 50, 1);
	assert_true(frame_table_is_named(table, 0) && frame_table_is_named(table, 1));
	assert_int_equal(frame_table_set(table, 0, frames, 1), -EEXIST);
	/* Neither replaces what is there. */
	stand_in.line = 60;
	assert_int_equal(frame_table_set_stand_in(table, 0, &stand_in), 0);
	assert_int_equal(frame_table_set_stand_in(table, 2, &stand_in), 0);
	assert_frames(0, 1, 2);
	assert_frames(2, 50, 1);
	named = frame_table_named(table, &count);
	assert_int_equal(count, 3);
	assert_int_equal(named[0], 1);
	assert_int_equal(named[1], 0);
	assert_int_equal(named[2], 9);
}
