/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows are read as they were added, in order of time, and take little memory. */
#include <stdint.h>
#include <stdlib.h>

#include "base/scope.h"
#include "sink/timeline/row_reader.h"
#include "tests/unit/cases.h"

struct fixture {
	struct packed_memory memory;
	struct packed_rows rows;
	struct row_reader reader;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->rows.columns = 3;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	row_reader_deinit(&f->reader);
	packed_rows_deinit(&f->rows);
	packed_memory_deinit(&f->memory);
	free(f);
	return 0;
}

static int add(struct fixture *f, uint64_t time_ns, uint64_t b, uint64_t c)
{
	const uint64_t values[] = {time_ns, b, c};

	return packed_rows_add(&f->rows, &f->memory, values);
}

static uint64_t random_bits(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33 ^ *seed << 31;
}

/* Numbers of all sizes, in several blocks. The second column is the order of arrival. */
CASE_WITH(rows_are_read_in_order_of_time, setup, teardown)
{
	enum { ROWS = 20000, LATE = 3000 };
	struct fixture *f = *state;
	uint64_t seed = 1, time_ns = 1ull << 40, last_ns = 0, last = 0, sum = 0, read = 0;
	const uint64_t *row;

	for (uint64_t i = 0; i < ROWS; i++) {
		uint64_t value = random_bits(&seed) >> random_bits(&seed) % 64;
		uint64_t late = random_bits(&seed) % 3 ? 0 : random_bits(&seed) % LATE;

		time_ns += random_bits(&seed) % 4;
		assert_int_equal(add(f, time_ns - late, i, value), 0);
		sum += value;
	}
	assert_true(f->rows.blocks.size > 5);
	row_reader_begin(&f->reader, &f->rows);
	for (; row_reader_next(&f->reader, &row) == 1; read++) {
		assert_true(row[0] > last_ns || (row[0] == last_ns && (!read || row[1] > last)));
		last_ns = row[0];
		last = row[1];
		sum -= row[2];
	}
	assert_int_equal(read, ROWS);
	assert_int_equal(sum, 0);
	assert_true(f->reader.window.capacity < ROWS / 2);
}

/* The window is bounded: a crafted recording can have all of its samples in reverse order. */
CASE_WITH(reversed_rows_take_a_bounded_window, setup, teardown)
{
	enum { ROWS = 3 * ROW_WINDOW_MAX };
	struct fixture *f = *state;
	const uint64_t *row;
	uint64_t read = 0;

	for (uint64_t i = 0; i < ROWS; i++)
		assert_int_equal(add(f, ROWS - i, 0, 0), 0);
	assert_true(f->memory.bytes < 64 << 10);
	row_reader_begin(&f->reader, &f->rows);
	while (row_reader_next(&f->reader, &row) == 1)
		read++;
	assert_int_equal(read, ROWS);
	assert_int_equal(f->reader.window.capacity, ROW_WINDOW_MAX);
}

/* The largest numbers, as a crafted recording may have them. */
CASE_WITH(times_may_wrap, setup, teardown)
{
	struct fixture *f = *state;
	const uint64_t *row;

	assert_int_equal(add(f, UINT64_MAX, UINT64_MAX, 0), 0);
	assert_int_equal(add(f, 0, 0, UINT64_MAX), 0);
	assert_int_equal(add(f, 1, 1, 1), 0);
	row_reader_begin(&f->reader, &f->rows);
	assert_int_equal(row_reader_next(&f->reader, &row), 1);
	assert_int_equal(row[0], 0);
	assert_int_equal(row[2], UINT64_MAX);
	assert_int_equal(row_reader_next(&f->reader, &row), 1);
	assert_int_equal(row[0], 1);
	assert_int_equal(row_reader_next(&f->reader, &row), 1);
	assert_int_equal(row[0], UINT64_MAX);
	assert_int_equal(row_reader_next(&f->reader, &row), 0);
}

CASE_WITH(without_room_rows_are_unchanged, setup, teardown)
{
	struct fixture *f = *state;
	uint64_t seed = 2, added = 0, read = 0;
	const uint64_t *row;

	f->memory.limit_bytes = 100 << 10;
	while (!add(f, added, random_bits(&seed), random_bits(&seed)))
		added++;
	assert_int_equal(f->rows.count, added);
	assert_in_range(f->memory.bytes, 50 << 10, 100 << 10);
	assert_int_equal(add(f, 0, 0, 0), -EDQUOT);
	row_reader_begin(&f->reader, &f->rows);
	for (; row_reader_next(&f->reader, &row) == 1; read++)
		assert_int_equal(row[0], read);
	assert_int_equal(read, added);
}
