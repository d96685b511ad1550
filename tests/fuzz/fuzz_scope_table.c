/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A scope table: all of a table that decodes can be read, its chains end, and its packed form is
 * that table. The same bytes as a packed form are unpacked within their room.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/recording/packed_scopes.h"
#include "tests/fuzz/seeds.h"

SEEDS(3);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void walk_chain(const struct scope_table *table, uint64_t offset)
{
	uint32_t at = scope_table_at(table, offset), count = 0;
	struct scope scope;
	volatile size_t sink = 0;

	for (; at != JITBPF_NO_SCOPE; at = scope.caller) {
		require(at < table->counts.scope_count);
		scope = scope_table_get(table, at);
		sink += strlen(scope.name) + strlen(scope.class_name) + strlen(scope.source);
		require(strlen(scope.name) <= JITBPF_SCOPE_STRING_MAX);
		require(scope.depth && ++count <= JITBPF_SCOPE_DEPTH_MAX);
		require((scope.depth == 1) == (scope.caller == JITBPF_NO_SCOPE));
	}
}

static void pack_and_unpack(const struct scope_table *table, const uint8_t *bytes,
			    size_t size_bytes)
{
	uint8_t *packed = malloc(PACKED_SCOPES_ROOM(size_bytes)), *again = malloc(size_bytes);
	size_t packed_bytes, again_bytes;

	require(packed && again);
	packed_bytes = packed_scopes_pack(table, packed);
	require(packed_bytes <= PACKED_SCOPES_ROOM(size_bytes));
	require(!packed_scopes_measure(packed, packed_bytes, &again_bytes));
	require(again_bytes == size_bytes);
	require(!packed_scopes_unpack(packed, packed_bytes, again));
	require(!memcmp(again, bytes, size_bytes));
	free(packed);
	free(again);
}

static void unpack(const uint8_t *packed, size_t packed_bytes)
{
	size_t size_bytes = 0;
	uint8_t *bytes;
	int err = packed_scopes_measure(packed, packed_bytes, &size_bytes);

	require(!err || err == -EBADMSG);
	if (err)
		return;
	require(size_bytes <= sizeof(struct jitbpf_scope_table) + 5 * packed_bytes);
	bytes = malloc(size_bytes);
	require(bytes);
	err = packed_scopes_unpack(packed, packed_bytes, bytes);
	require(!err || err == -EBADMSG);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	/* The copy has exactly its size, so that sanitizers detect reads beyond it. */
	uint8_t *bytes = malloc(size_bytes ? size_bytes : 1);
	struct scope_table table;
	int err;

	require(bytes);
	memcpy(bytes, data, size_bytes);
	err = scope_table_decode(bytes, size_bytes, &table);
	require(!err || err == -EBADMSG);
	if (!err) {
		struct scope_table again = scope_table_of(bytes);

		require(!memcmp(&again, &table, sizeof(table)));
	}
	for (uint32_t i = 0; !err && i < table.counts.range_count; i++) {
		struct jitbpf_scope_range range;

		memcpy(&range, table.ranges + (size_t)i * sizeof(range), sizeof(range));
		require(scope_table_at(&table, range.offset) == range.scope);
		walk_chain(&table, range.offset);
		walk_chain(&table, range.offset - 1ull);
	}
	if (!err)
		seed_taken();
	if (!err)
		pack_and_unpack(&table, bytes, size_bytes);
	unpack(bytes, size_bytes);
	free(bytes);
	return 0;
}
