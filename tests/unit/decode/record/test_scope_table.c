/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>

#include "decode/record/scope_table.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/record/scope_bytes.h"

static int decode(const struct scope_parts *parts, uint8_t *room, struct scope_table *ret)
{
	size_t size_bytes;
	const uint8_t *bytes = scope_bytes(parts, room, &size_bytes);

	return scope_table_decode(bytes, size_bytes, ret);
}

static void assert_refused(const struct scope_parts *parts)
{
	struct scope_table table = {.strings = "untouched"};
	uint8_t room[SCOPE_ROOM];

	assert_int_equal(decode(parts, room, &table), -EBADMSG);
	assert_string_equal(table.strings, "untouched");
}

CASE(test_chains)
{
	struct scope_parts parts = scope_parts_example();
	uint8_t room[SCOPE_ROOM];
	struct scope_table table;
	struct scope scope;

	assert_int_equal(decode(&parts, room, &table), 0);
	assert_int_equal(scope_table_at(&table, 0), 0);
	assert_int_equal(scope_table_at(&table, 15), 0);
	assert_int_equal(scope_table_at(&table, 16), 1);
	assert_int_equal(scope_table_at(&table, 31), 1);
	assert_int_equal(scope_table_at(&table, 32), 2);
	assert_int_equal(scope_table_at(&table, 40), JITBPF_NO_SCOPE);
	assert_int_equal(scope_table_at(&table, 48), 3);
	assert_int_equal(scope_table_at(&table, UINT64_MAX), 3);
	scope = scope_table_get(&table, 2);
	assert_string_equal(scope.name, "leaf");
	assert_string_equal(scope.class_name, "C");
	assert_string_equal(scope.source, "");
	assert_int_equal(scope.position, -1);
	assert_int_equal(scope.line, 0);
	assert_int_equal(scope.depth, 3);
	assert_int_equal(scope.caller, 1);
	scope = scope_table_get(&table, 0);
	assert_string_equal(scope.name, "fill");
	assert_string_equal(scope.source, "F.c");
	assert_int_equal(scope.line, 9);
	assert_int_equal(scope.caller, JITBPF_NO_SCOPE);
}

CASE(test_nothing_before_the_first_range)
{
	struct scope_parts parts = scope_parts_example();
	uint8_t room[SCOPE_ROOM];
	struct scope_table table;

	parts.ranges[0].offset = 4;
	assert_int_equal(decode(&parts, room, &table), 0);
	assert_int_equal(scope_table_at(&table, 3), JITBPF_NO_SCOPE);
	assert_int_equal(scope_table_at(&table, 4), 0);
}

CASE(test_empty)
{
	struct scope_parts parts = {.strings = ""};
	uint8_t room[SCOPE_ROOM];
	struct scope_table table;

	assert_int_equal(decode(&parts, room, &table), 0);
	assert_int_equal(scope_table_at(&table, 0), JITBPF_NO_SCOPE);
}

CASE(test_bad_numbers)
{
	struct scope_parts parts = scope_parts_example();

	parts.methods[1].name = parts.counts.string_bytes;
	assert_refused(&parts);
	parts = scope_parts_example();
	parts.methods[0].class_name = UINT32_MAX;
	assert_refused(&parts);
	parts = scope_parts_example();
	parts.methods[2].source = parts.counts.string_bytes;
	assert_refused(&parts);
	parts = scope_parts_example();
	parts.counts.string_bytes--; /* the last NUL */
	assert_refused(&parts);
	parts = scope_parts_example();
	parts.scopes[1].method = 3;
	assert_refused(&parts);
	parts = scope_parts_example();
	parts.scopes[1].caller = 1; /* a cycle */
	assert_refused(&parts);
	parts = scope_parts_example();
	parts.scopes[1].caller = 2;
	assert_refused(&parts);
	parts = scope_parts_example();
	parts.scopes[0].depth = 0;
	assert_refused(&parts);
	parts = scope_parts_example();
	parts.scopes[2].depth = 2;
	assert_refused(&parts);
	parts = scope_parts_example();
	parts.ranges[4].scope = 4;
	assert_refused(&parts);
	parts = scope_parts_example();
	parts.ranges[2].offset = 16; /* twice */
	assert_refused(&parts);
	parts = scope_parts_example();
	parts.ranges[2].offset = 15;
	assert_refused(&parts);
}

CASE(test_bad_sizes)
{
	struct scope_parts parts = scope_parts_example();
	uint8_t room[SCOPE_ROOM];
	struct scope_table table;
	size_t size_bytes;
	const uint8_t *bytes = scope_bytes(&parts, room, &size_bytes);
	const uint32_t counts[] = {UINT32_MAX, UINT32_MAX / 2, 0x15555556, 0xcccccce};

	room[1 + size_bytes] = 0;
	assert_int_equal(scope_table_decode(bytes, size_bytes + 1, &table), -EBADMSG);
	for (size_t n = 0; n < size_bytes; n++) {
		/* The copy has exactly its size, so that sanitizers detect reads beyond it. */
		uint8_t *copy = malloc(n ? n : 1);

		memcpy(copy, bytes, n);
		assert_int_equal(scope_table_decode(copy, n, &table), -EBADMSG);
		free(copy);
	}
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		for (size_t field = 0; field < 4; field++) {
			bytes = scope_bytes(&parts, room, &size_bytes);
			memcpy(room + 1 + field * 4, &counts[i], 4);
			assert_int_equal(scope_table_decode(bytes, size_bytes, &table), -EBADMSG);
		}
	}
}

CASE(test_depth)
{
	struct jitbpf_scope scopes[JITBPF_SCOPE_DEPTH_MAX + 1];
	struct jitbpf_scope_table counts = {.method_count = 1, .string_bytes = 1};
	uint8_t bytes[sizeof(counts) + sizeof(struct jitbpf_scope_method) + sizeof(scopes) + 1];
	struct scope_table table;

	for (uint32_t n = JITBPF_SCOPE_DEPTH_MAX; n <= JITBPF_SCOPE_DEPTH_MAX + 1; n++) {
		size_t size_bytes = sizeof(counts) + sizeof(struct jitbpf_scope_method) +
				    n * sizeof(scopes[0]) + 1;

		for (uint32_t i = 0; i < n; i++)
			scopes[i] = (struct jitbpf_scope){.caller = i - 1, .depth = i + 1};
		counts.scope_count = n;
		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, &counts, sizeof(counts));
		memcpy(bytes + sizeof(counts) + sizeof(struct jitbpf_scope_method), scopes,
		       n * sizeof(scopes[0]));
		assert_int_equal(scope_table_decode(bytes, size_bytes, &table),
				 n == JITBPF_SCOPE_DEPTH_MAX ? 0 : -EBADMSG);
	}
}

/* Readers copy and hash the strings of each level, so their lengths are bounded. */
CASE(test_long_strings)
{
	struct jitbpf_scope_table counts = {.string_bytes = 1 + JITBPF_SCOPE_STRING_MAX + 1};
	uint8_t bytes[sizeof(counts) + 1 + JITBPF_SCOPE_STRING_MAX + 2] = {0};
	struct scope_table table;

	memset(bytes + sizeof(counts) + 1, 'x', JITBPF_SCOPE_STRING_MAX);
	memcpy(bytes, &counts, sizeof(counts));
	assert_int_equal(scope_table_decode(bytes, sizeof(bytes) - 1, &table), 0);
	bytes[sizeof(counts) + 1 + JITBPF_SCOPE_STRING_MAX] = 'x';
	counts.string_bytes++;
	memcpy(bytes, &counts, sizeof(counts));
	assert_int_equal(scope_table_decode(bytes, sizeof(bytes), &table), -EBADMSG);
}
