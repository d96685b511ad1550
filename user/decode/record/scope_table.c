/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/record/scope_table.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/cursor.h"
#include "base/search.h"

static struct jitbpf_scope_method method_at(const struct scope_table *table, uint32_t i)
{
	struct jitbpf_scope_method method;

	memcpy(&method, table->methods + (size_t)i * sizeof(method), sizeof(method));
	return method;
}

static struct jitbpf_scope scope_at(const struct scope_table *table, uint32_t i)
{
	struct jitbpf_scope scope;

	memcpy(&scope, table->scopes + (size_t)i * sizeof(scope), sizeof(scope));
	return scope;
}

static struct jitbpf_scope_range range_at(const struct scope_table *table, uint32_t i)
{
	struct jitbpf_scope_range range;

	memcpy(&range, table->ranges + (size_t)i * sizeof(range), sizeof(range));
	return range;
}

static bool methods_are_valid(const struct scope_table *table)
{
	for (uint32_t i = 0; i < table->counts.method_count; i++) {
		struct jitbpf_scope_method method = method_at(table, i);

		if (method.name >= table->counts.string_bytes ||
		    method.class_name >= table->counts.string_bytes ||
		    method.source >= table->counts.string_bytes)
			return false;
	}
	return true;
}

/* A caller comes before its scope, so chains have no cycles. */
static bool scopes_are_valid(const struct scope_table *table)
{
	for (uint32_t i = 0; i < table->counts.scope_count; i++) {
		struct jitbpf_scope scope = scope_at(table, i);
		uint32_t depth = 0;

		if (scope.caller != JITBPF_NO_SCOPE && scope.caller >= i)
			return false;
		if (scope.caller != JITBPF_NO_SCOPE)
			depth = scope_at(table, scope.caller).depth;
		if (scope.depth != depth + 1 || scope.depth > JITBPF_SCOPE_DEPTH_MAX ||
		    scope.method >= table->counts.method_count)
			return false;
	}
	return true;
}

static bool ranges_are_valid(const struct scope_table *table)
{
	uint64_t next = 0;

	for (uint32_t i = 0; i < table->counts.range_count; i++) {
		struct jitbpf_scope_range range = range_at(table, i);

		if (range.offset < next ||
		    (range.scope != JITBPF_NO_SCOPE && range.scope >= table->counts.scope_count))
			return false;
		next = range.offset + 1ull;
	}
	return true;
}

/* The last byte is a NUL. */
static bool strings_are_valid(const struct scope_table *table)
{
	const char *at = table->strings, *end = at + table->counts.string_bytes;

	if (at != end && end[-1])
		return false;
	while (at != end) {
		size_t length = strnlen(at, JITBPF_SCOPE_STRING_MAX + 1);

		if (length > JITBPF_SCOPE_STRING_MAX)
			return false;
		at += length + 1;
	}
	return true;
}

static int take(struct cursor *c, uint64_t count, size_t size_bytes, const uint8_t **ret)
{
	const void *bytes;
	int err = cursor_take(c, count * size_bytes, &bytes);

	if (!err)
		*ret = bytes;
	return err;
}

int scope_table_decode(const void *bytes, size_t size_bytes, struct scope_table *ret)
{
	struct cursor c = cursor_of(bytes, size_bytes);
	struct scope_table table;
	const void *strings;
	int err = cursor_read(&c, &table.counts, sizeof(table.counts));

	if (err)
		return err;
	err = take(&c, table.counts.method_count, sizeof(struct jitbpf_scope_method),
		   &table.methods);
	err = err ?: take(&c, table.counts.scope_count, sizeof(struct jitbpf_scope), &table.scopes);
	err = err
		      ?: take(&c, table.counts.range_count, sizeof(struct jitbpf_scope_range),
			      &table.ranges);
	err = err ?: cursor_take(&c, table.counts.string_bytes, &strings);
	if (err)
		return err;
	table.strings = strings;
	if (cursor_left(&c) || !strings_are_valid(&table) || !methods_are_valid(&table) ||
	    !scopes_are_valid(&table) || !ranges_are_valid(&table))
		return -EBADMSG;
	*ret = table;
	return 0;
}

struct scope_table scope_table_of(const void *bytes)
{
	struct scope_table table;
	const uint8_t *at = bytes;

	memcpy(&table.counts, at, sizeof(table.counts));
	table.methods = at + sizeof(table.counts);
	table.scopes = table.methods +
		       (size_t)table.counts.method_count * sizeof(struct jitbpf_scope_method);
	table.ranges =
		table.scopes + (size_t)table.counts.scope_count * sizeof(struct jitbpf_scope);
	table.strings = (const char *)table.ranges +
			(size_t)table.counts.range_count * sizeof(struct jitbpf_scope_range);
	return table;
}

uint32_t scope_table_at(const struct scope_table *table, uint64_t offset)
{
	uint32_t after = partition_point(0, table->counts.range_count, i,
					 range_at(table, i).offset <= offset);

	return after ? range_at(table, after - 1).scope : JITBPF_NO_SCOPE;
}

struct scope scope_table_get(const struct scope_table *table, uint32_t i)
{
	struct jitbpf_scope scope = scope_at(table, i);
	struct jitbpf_scope_method method = method_at(table, scope.method);

	return (struct scope){
		.caller = scope.caller,
		.depth = scope.depth,
		.position = scope.position,
		.line = scope.line,
		.name = table->strings + method.name,
		.class_name = table->strings + method.class_name,
		.source = table->strings + method.source,
	};
}
