/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/recording/packed_scopes.h"

#include <errno.h>
#include <string.h>

#include "base/cursor.h"
#include "base/leb128.h"
#include "base/zigzag.h"

/* --- packing ----------------------------------------------------------------------- */

static uint8_t *put(uint8_t *at, uint64_t number)
{
	return at + leb128_write(number, at);
}

static uint8_t *put_difference(uint8_t *at, uint32_t number, uint32_t before)
{
	return put(at, zigzag_word(number - before));
}

static uint8_t *put_counts(uint8_t *at, const struct jitbpf_scope_table *counts)
{
	at = put(at, counts->method_count);
	at = put(at, counts->scope_count);
	at = put(at, counts->range_count);
	return put(at, counts->string_bytes);
}

static uint8_t *put_methods(uint8_t *at, const struct scope_table *table)
{
	struct jitbpf_scope_method before = {0}, method;

	for (uint32_t i = 0; i < table->counts.method_count; i++, before = method) {
		memcpy(&method, table->methods + i * sizeof(method), sizeof(method));
		at = put_difference(at, method.name, before.name);
		at = put_difference(at, method.class_name, before.class_name);
		at = put_difference(at, method.source, before.source);
	}
	return at;
}

static uint8_t *put_scopes(uint8_t *at, const struct scope_table *table)
{
	struct jitbpf_scope before = {0}, scope;

	for (uint32_t i = 0; i < table->counts.scope_count; i++, before = scope) {
		memcpy(&scope, table->scopes + i * sizeof(scope), sizeof(scope));
		at = put(at, scope.caller == JITBPF_NO_SCOPE ? 0 : i - scope.caller);
		at = put_difference(at, scope.method, before.method);
		at = put_difference(at, (uint32_t)scope.position, (uint32_t)before.position);
		at = put_difference(at, scope.line, before.line);
	}
	return at;
}

static uint8_t *put_ranges(uint8_t *at, const struct scope_table *table)
{
	struct jitbpf_scope_range before = {0}, range;

	for (uint32_t i = 0; i < table->counts.range_count; i++, before = range) {
		memcpy(&range, table->ranges + i * sizeof(range), sizeof(range));
		at = put(at, range.offset - before.offset);
		at = put_difference(at, range.scope, before.scope);
	}
	return at;
}

size_t packed_scopes_pack(const struct scope_table *table, uint8_t *ret)
{
	uint8_t *at = put_counts(ret, &table->counts);

	at = put_methods(at, table);
	at = put_scopes(at, table);
	at = put_ranges(at, table);
	memcpy(at, table->strings, table->counts.string_bytes);
	return (size_t)(at - ret) + table->counts.string_bytes;
}

/* --- unpacking --------------------------------------------------------------------- */

/* Smallest sizes of a packed method, scope and range, in bytes. */
enum { METHOD_MIN = 3, SCOPE_MIN = 4, RANGE_MIN = 2 };

static int take_word(struct cursor *c, uint32_t *ret)
{
	uint64_t number;

	if (leb128_read(c, &number) || number > UINT32_MAX)
		return -EBADMSG;
	*ret = (uint32_t)number;
	return 0;
}

/* Read a difference to *number, and add it. */
static int take_difference(struct cursor *c, uint32_t *number)
{
	uint32_t difference;
	int err = take_word(c, &difference);

	if (!err)
		*number += (uint32_t)unzigzag(difference);
	return err;
}

static int take_counts(struct cursor *c, struct jitbpf_scope_table *ret)
{
	if (take_word(c, &ret->method_count) || take_word(c, &ret->scope_count) ||
	    take_word(c, &ret->range_count) || take_word(c, &ret->string_bytes) ||
	    (uint64_t)ret->method_count * METHOD_MIN + (uint64_t)ret->scope_count * SCOPE_MIN +
			    (uint64_t)ret->range_count * RANGE_MIN + ret->string_bytes >
		    cursor_left(c))
		return -EBADMSG;
	return 0;
}

int packed_scopes_measure(const void *packed, size_t packed_bytes, size_t *ret)
{
	struct cursor c = cursor_of(packed, packed_bytes);
	struct jitbpf_scope_table counts;
	int err = take_counts(&c, &counts);

	if (err)
		return err;
	*ret = sizeof(counts) + counts.method_count * sizeof(struct jitbpf_scope_method) +
	       counts.scope_count * sizeof(struct jitbpf_scope) +
	       counts.range_count * sizeof(struct jitbpf_scope_range) + counts.string_bytes;
	return 0;
}

static int take_methods(struct cursor *c, uint32_t count, uint8_t **at)
{
	struct jitbpf_scope_method method = {0};

	for (uint32_t i = 0; i < count; i++, *at += sizeof(method)) {
		if (take_difference(c, &method.name) || take_difference(c, &method.class_name) ||
		    take_difference(c, &method.source))
			return -EBADMSG;
		memcpy(*at, &method, sizeof(method));
	}
	return 0;
}

/* The depth of a scope follows from its caller, which has been written. */
static int take_scopes(struct cursor *c, uint32_t count, uint8_t **at)
{
	const uint8_t *scopes = *at;
	struct jitbpf_scope scope = {0}, caller;

	for (uint32_t i = 0; i < count; i++, *at += sizeof(scope)) {
		uint32_t back, position = (uint32_t)scope.position;

		if (take_word(c, &back) || take_difference(c, &scope.method) ||
		    take_difference(c, &position) || take_difference(c, &scope.line) || back > i)
			return -EBADMSG;
		scope.position = (int32_t)position;
		scope.caller = back ? i - back : JITBPF_NO_SCOPE;
		scope.depth = 1;
		if (back) {
			memcpy(&caller, scopes + scope.caller * sizeof(caller), sizeof(caller));
			scope.depth = caller.depth + 1;
		}
		memcpy(*at, &scope, sizeof(scope));
	}
	return 0;
}

static int take_ranges(struct cursor *c, uint32_t count, uint8_t **at)
{
	struct jitbpf_scope_range range = {0};

	for (uint32_t i = 0; i < count; i++, *at += sizeof(range)) {
		uint32_t step;

		if (take_word(c, &step) || step > UINT32_MAX - range.offset ||
		    take_difference(c, &range.scope))
			return -EBADMSG;
		range.offset += step;
		memcpy(*at, &range, sizeof(range));
	}
	return 0;
}

int packed_scopes_unpack(const void *packed, size_t packed_bytes, uint8_t *ret)
{
	struct cursor c = cursor_of(packed, packed_bytes);
	struct jitbpf_scope_table counts;
	uint8_t *at = ret + sizeof(counts);

	if (take_counts(&c, &counts))
		return -EBADMSG;
	memcpy(ret, &counts, sizeof(counts));
	if (take_methods(&c, counts.method_count, &at) ||
	    take_scopes(&c, counts.scope_count, &at) || take_ranges(&c, counts.range_count, &at) ||
	    cursor_left(&c) != counts.string_bytes)
		return -EBADMSG;
	return cursor_read(&c, at, counts.string_bytes);
}
