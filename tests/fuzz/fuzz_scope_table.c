/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A scope table: all of a table that decodes can be read, and its chains end. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/record/scope_table.h"

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
	free(bytes);
	return 0;
}
