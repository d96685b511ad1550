/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/v8/v8_positions.h"

#include <errno.h>

#include "base/scope.h"
#include "tests/unit/cases.h"

/* A number as V8 writes it. */
static size_t put(uint8_t *at, int64_t number)
{
	uint64_t bits = (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
	size_t count = 0;

	for (; bits > 0x7f; bits >>= 7)
		at[count++] = (uint8_t)(bits | 0x80);
	at[count++] = (uint8_t)bits;
	return count;
}

/* The bits of a position in the source. */
static int64_t bits_of(int32_t position)
{
	return (int64_t)(position + 1) << 1;
}

CASE(entries_are_differences)
{
	static const struct {
		int32_t offset, position;
		bool is_statement;
	} entries[] = {
		{-1, 7, true}, {0, 30, true}, {3, 20, false}, {3, 21, true}, {300, 100000, true},
	};
	uint8_t table[64];
	int32_t offset = -1, position = 0;
	int64_t source = 0;
	size_t bytes = 0;
	struct v8_positions positions;

	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		int32_t by = entries[i].offset - offset;

		bytes += put(table + bytes, entries[i].is_statement ? by : -by - 1);
		bytes += put(table + bytes, bits_of(entries[i].position) - source);
		offset = entries[i].offset;
		source = bits_of(entries[i].position);
	}
	positions = v8_positions_of(table, bytes);
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		assert_int_equal(v8_positions_next(&positions, &offset, &position), 1);
		assert_int_equal(offset, entries[i].offset);
		assert_int_equal(position, entries[i].position);
	}
	assert_int_equal(v8_positions_next(&positions, &offset, &position), 0);
}

CASE(what_is_malformed)
{
	/* A number without an end; one of two; too many bytes; a negative position. */
	static const uint8_t open[] = {2, 0x80}, half[] = {2},
			     large[] = {2, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1},
			     negative[] = {2, 3}, external[] = {2, 2};
	static const struct {
		const uint8_t *table;
		size_t bytes;
	} tables[] = {
		{open, sizeof(open)},	      {half, sizeof(half)},	    {large, sizeof(large)},
		{negative, sizeof(negative)}, {external, sizeof(external)},
	};
	int32_t offset, position;

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		struct v8_positions positions = v8_positions_of(tables[i].table, tables[i].bytes);

		assert_int_equal(v8_positions_next(&positions, &offset, &position), -EBADMSG);
	}
}
