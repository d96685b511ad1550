/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/runtime_notes.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/scope.h"
#include "tests/unit/cases.h"

static void put(struct runtime_notes *notes, uint64_t object, size_t size_bytes)
{
	const struct runtime_note_key key = {1, object, 2};
	uint64_t *data = calloc(1, size_bytes);

	assert_non_null(data);
	*data = object;
	runtime_notes_put(notes, &key, data, size_bytes);
}

static bool has(struct runtime_notes *notes, uint64_t owner, uint64_t object)
{
	const struct runtime_note_key key = {owner, object, 2};
	size_t bytes;
	const uint64_t *data = runtime_notes_find(notes, &key, &bytes);

	if (data) {
		assert_int_equal(*data, object);
		assert_true(bytes >= sizeof(*data));
	}
	return data;
}

CASE(notes_are_found_by_all_of_their_key)
{
	CLEANUP(runtime_notes_deinit) struct runtime_notes notes = {0};

	put(&notes, 7, 100);
	assert_true(has(&notes, 1, 7));
	assert_false(has(&notes, 1, 8));
	assert_false(has(&notes, 2, 7));
}

CASE(the_oldest_note_makes_room)
{
	CLEANUP(runtime_notes_deinit) struct runtime_notes notes = {0};

	for (uint64_t i = 0; i < RUNTIME_NOTES_MAX; i++)
		put(&notes, i, 8);
	assert_true(has(&notes, 1, 0));
	put(&notes, 100, 8);
	assert_true(has(&notes, 1, 0));
	assert_false(has(&notes, 1, 1));
	assert_true(has(&notes, 1, 2));
	assert_int_equal(notes.bytes, RUNTIME_NOTES_MAX * 8);
}

CASE(bytes_are_bounded)
{
	CLEANUP(runtime_notes_deinit) struct runtime_notes notes = {0};

	put(&notes, 1, 16);
	put(&notes, 2, RUNTIME_NOTES_BYTES_MAX - 16);
	assert_true(has(&notes, 1, 1));
	put(&notes, 3, 24);
	assert_false(has(&notes, 1, 2));
	assert_true(has(&notes, 1, 1));
	put(&notes, 4, RUNTIME_NOTES_BYTES_MAX + 1);
	assert_false(has(&notes, 1, 4));
	assert_true(has(&notes, 1, 3));
	put(&notes, 5, RUNTIME_NOTES_BYTES_MAX);
	assert_false(has(&notes, 1, 3));
	assert_int_equal(notes.bytes, RUNTIME_NOTES_BYTES_MAX);
}
