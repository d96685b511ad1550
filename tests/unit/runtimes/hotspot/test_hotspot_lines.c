/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/hotspot/hotspot_lines.h"

#include <string.h>

#include "base/scope.h"
#include "tests/unit/cases.h"

static void expect(const uint8_t *table, size_t size_bytes, bool zero_free,
		   const struct runtime_line *lines, size_t count)
{
	CLEANUP(runtime_function_deinit) struct runtime_function function = {0};

	assert_int_equal(hotspot_lines_decode(table, size_bytes, zero_free, &function), 0);
	assert_int_equal(function.lines.size, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(function.lines.data[i].position, lines[i].position);
		assert_int_equal(function.lines.data[i].line, lines[i].line);
	}
	if (count)
		assert_int_equal(function.first_line, lines[0].line);
}

CASE(short_and_long_entries)
{
	/* 0: line 10; 3: 12; 13: 9, by an escape; zigzag: 10 is 20, -3 is 5 */
	static const uint8_t before[] = {0xff, 0, 20, 3 << 3 | 2, 0xff, 20, 5, 0};
	static const uint8_t zero_free[] = {0xff, 1, 21, 3 << 3 | 2, 0xff, 21, 6, 0};
	static const struct runtime_line lines[] = {{0, 10}, {3, 12}, {13, 9}};

	expect(before, sizeof(before), false, lines, 3);
	expect(zero_free, sizeof(zero_free), true, lines, 3);
}

/* 1,000 is 2,000 as a zigzag: 2,000 = low + ((2,000 - low) / 64) * 64 with a low byte from 192. */
CASE(numbers_of_two_bytes)
{
	static const uint8_t before[] = {0xff, 0, 192 + (2000 - 192) % 64, (2000 - 192) / 64, 0};
	static const uint8_t zero_free[] = {0xff, 1, 192 + (2000 - 191) % 64, (2000 - 191) / 64 + 1,
					    0};
	static const struct runtime_line lines[] = {{0, 1000}};

	expect(before, sizeof(before), false, lines, 1);
	expect(zero_free, sizeof(zero_free), true, lines, 1);
}

CASE(positions_that_go_back_are_sorted)
{
	/* 8: 5; 2: 7; 2 again: 8, the last one counts */
	static const uint8_t table[] = {0xff, 16, 10, 0xff, 11, 4, 0 << 3 | 1, 0};
	static const struct runtime_line lines[] = {{2, 8}, {8, 5}};
	CLEANUP(runtime_function_deinit) struct runtime_function function = {0};

	assert_int_equal(hotspot_lines_decode(table, sizeof(table), false, &function), 0);
	assert_int_equal(function.lines.size, 2);
	assert_int_equal(function.lines.data[0].position, lines[0].position);
	assert_int_equal(function.lines.data[1].line, lines[1].line);
}

CASE(what_is_malformed_ends_the_table)
{
	static const uint8_t cut[] = {1 << 3 | 1, 0xff, 255}, byte[] = {1 << 3 | 1, 0xff, 0, 5};
	static const uint8_t large[] = {1 << 3 | 1, 0xff, 254, 255, 255, 255, 1, 2};
	static const struct runtime_line lines[] = {{1, 1}};

	expect(cut, sizeof(cut), false, lines, 1);
	expect(byte, sizeof(byte), true, lines, 1);
	expect(large, sizeof(large), false, lines, 1);
	expect(cut, 0, false, NULL, 0);
}
