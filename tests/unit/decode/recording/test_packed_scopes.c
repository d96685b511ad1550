/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Scope tables in the packed form of recordings. */
#include <stdint.h>
#include <errno.h>

#include "decode/recording/packed_scopes.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/record/scope_bytes.h"

struct fixture {
	uint8_t room[SCOPE_ROOM], packed[SCOPE_ROOM], again[SCOPE_ROOM];
	uint8_t *bytes;
	size_t size_bytes, packed_bytes;
};

static void pack(struct fixture *f, const struct scope_parts *parts)
{
	struct scope_table table;

	f->bytes = scope_bytes(parts, f->room, &f->size_bytes);
	assert_int_equal(scope_table_decode(f->bytes, f->size_bytes, &table), 0);
	f->packed_bytes = packed_scopes_pack(&table, f->packed);
	assert_in_range(f->packed_bytes, 1, PACKED_SCOPES_ROOM(f->size_bytes));
}

static void assert_comes_back(struct fixture *f)
{
	size_t size_bytes;

	assert_int_equal(packed_scopes_measure(f->packed, f->packed_bytes, &size_bytes), 0);
	assert_int_equal(size_bytes, f->size_bytes);
	assert_int_equal(packed_scopes_unpack(f->packed, f->packed_bytes, f->again), 0);
	assert_memory_equal(f->again, f->bytes, size_bytes);
}

CASE(test_round_trip)
{
	struct scope_parts parts = scope_parts_example();
	struct fixture f;

	pack(&f, &parts);
	assert_comes_back(&f);
	assert_in_range(f.packed_bytes, 1, f.size_bytes / 2);
}

/* Numbers at their limits take the most room. */
CASE(test_extremes)
{
	struct scope_parts parts = scope_parts_example();
	struct fixture f;

	parts.scopes[1].position = INT32_MIN;
	parts.scopes[2].position = INT32_MAX;
	parts.scopes[1].line = UINT32_MAX;
	parts.ranges[4].offset = UINT32_MAX;
	pack(&f, &parts);
	assert_comes_back(&f);
}

CASE(test_empty)
{
	struct scope_parts parts = {.strings = ""};
	struct fixture f;

	pack(&f, &parts);
	assert_comes_back(&f);
}

/* Each cut and each byte too many is refused, or has room for less. */
CASE(test_other_sizes)
{
	struct scope_parts parts = scope_parts_example();
	struct fixture f;
	size_t size_bytes;

	pack(&f, &parts);
	for (size_t i = 0; i < f.packed_bytes; i++) {
		if (!packed_scopes_measure(f.packed, i, &size_bytes)) {
			assert_in_range(size_bytes, 0, f.size_bytes);
			assert_int_equal(packed_scopes_unpack(f.packed, i, f.again), -EBADMSG);
		}
	}
	f.packed[f.packed_bytes] = 0;
	assert_int_equal(packed_scopes_unpack(f.packed, f.packed_bytes + 1, f.again), -EBADMSG);
}

static void assert_refused(const char *packed, size_t packed_bytes)
{
	uint8_t room[SCOPE_ROOM];
	size_t size_bytes = 0;
	int err = packed_scopes_measure(packed, packed_bytes, &size_bytes);

	assert_in_range(size_bytes, 0, sizeof(room));
	err = err ?: packed_scopes_unpack(packed, packed_bytes, room);
	assert_int_equal(err, -EBADMSG);
}

#define REFUSED(packed) assert_refused(packed, sizeof(packed) - 1)

CASE(test_malformed)
{
	REFUSED("");
	REFUSED("\xff\xff\xff\xff\x0f\xff\xff\xff\xff\x0f\xff\xff\xff\xff\x0f\xff\xff\xff\xff\x0f");
	REFUSED("\x80\x80\x80\x80\x10\0\0\0");	       /* a count of 2^32 */
	REFUSED("\0\1\0\0\1\0\0\0");		       /* a caller before the first scope */
	REFUSED("\0\0\2\0\xff\xff\xff\xff\x0f\0\1\0"); /* an offset beyond 2^32 */
	REFUSED("\0\0\1\0\0\x80\x80\x80\x80\x10");     /* a difference of 2^32 */
	REFUSED("\0\0\0\2a");			       /* strings that end early */
}
