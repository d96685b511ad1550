/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/v8/v8_positions.h"

#include <errno.h>

/* A position: bit 0 is 0 for one in the source; then 30 bits of it + 1. */
#define IS_EXTERNAL   1
#define POSITION_MASK 0x3fffffff

#define MORE	    0x80 /* a byte is not the last one of a number */
#define NUMBER_BITS 63

struct v8_positions v8_positions_of(const uint8_t *table, size_t size_bytes)
{
	return (struct v8_positions){.at = table, .end = table + size_bytes, .offset = -1};
}

/* Numbers have their sign in the lowest bit, and 7 bits in a byte, the lowest ones first. */
static bool read_number(struct v8_positions *table, int64_t *ret)
{
	uint64_t bits = 0;

	for (uint32_t shift = 0; shift < NUMBER_BITS && table->at < table->end; shift += 7) {
		uint8_t byte = *table->at++;

		bits |= (uint64_t)(byte & ~MORE) << shift;
		if (byte & MORE)
			continue;
		*ret = (int64_t)(bits >> 1 ^ -(bits & 1));
		return true;
	}
	return false;
}

int v8_positions_next(struct v8_positions *table, int32_t *ret_offset, int32_t *ret_position)
{
	int64_t by, source;

	if (table->at == table->end)
		return 0;
	if (!read_number(table, &by) || !read_number(table, &source))
		return -EBADMSG;
	/* One that is no statement is negative. */
	by = by < 0 ? -(by + 1) : by;
	if (by > INT32_MAX || source > INT64_MAX / 2 || source < INT64_MIN / 2)
		return -EBADMSG;
	table->offset += by;
	table->position = (int64_t)((uint64_t)table->position + (uint64_t)source);
	if (table->offset > INT32_MAX || table->position < 0 || table->position & IS_EXTERNAL)
		return -EBADMSG;
	*ret_offset = (int32_t)table->offset;
	*ret_position = (int32_t)(table->position >> 1 & POSITION_MASK) - 1;
	return 1;
}
