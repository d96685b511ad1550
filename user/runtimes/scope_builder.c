/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/scope_builder.h"

#include <stdbool.h>
#include <string.h>

#include "base/hash.h"

void scope_builder_deinit(struct scope_builder *builder)
{
	vec_deinit(&builder->methods);
	vec_deinit(&builder->scopes);
	vec_deinit(&builder->ranges);
	vec_deinit(&builder->strings);
	index_map_deinit(&builder->index);
}

static int add_bytes(struct scope_builder *builder, const char *bytes, size_t size_bytes)
{
	if (vec_reserve(&builder->strings, builder->strings.size + size_bytes + 1))
		return -ENOMEM;
	memcpy(builder->strings.data + builder->strings.size, bytes, size_bytes);
	builder->strings.size += size_bytes;
	builder->strings.data[builder->strings.size++] = '\0';
	return 0;
}

/* Offset 0 is the empty string. */
static int add_string(struct scope_builder *builder, const char *string, uint32_t *ret)
{
	if (!builder->strings.size && add_bytes(builder, "", 0))
		return -ENOMEM;
	*ret = 0;
	if (!*string)
		return 0;
	*ret = (uint32_t)builder->strings.size;
	return add_bytes(builder, string, strnlen(string, JITBPF_SCOPE_STRING_MAX));
}

int scope_builder_add_method(struct scope_builder *builder, const char *name, const char *source,
			     uint32_t *ret)
{
	struct jitbpf_scope_method method = {0};

	if (add_string(builder, name, &method.name) ||
	    add_string(builder, source, &method.source) || vec_push(&builder->methods, method))
		return -ENOMEM;
	*ret = (uint32_t)builder->methods.size - 1;
	return 0;
}

static bool is_same(const void *scopes, uint32_t item, const void *key_)
{
	const struct jitbpf_scope *scope = (const struct jitbpf_scope *)scopes + item, *key = key_;

	return scope->caller == key->caller && scope->method == key->method &&
	       scope->line == key->line;
}

/* Outputs show lines only, so places on one line share a scope. */
int scope_builder_add(struct scope_builder *builder, uint32_t caller, uint32_t method,
		      int32_t position, uint32_t line, uint32_t *ret)
{
	struct jitbpf_scope scope = {
		.caller = caller,
		.depth = 1,
		.method = method,
		.position = position,
		.line = line,
	};
	uint64_t hash = hash_mix((uint64_t)caller << 32 | method, line);

	*ret = index_map_find(&builder->index, hash, is_same, builder->scopes.data, &scope);
	if (*ret != INDEX_MAP_NONE)
		return 0;
	if (caller != JITBPF_NO_SCOPE)
		scope.depth = builder->scopes.data[caller].depth + 1;
	if (scope.depth > JITBPF_SCOPE_DEPTH_MAX)
		return -E2BIG;
	*ret = (uint32_t)builder->scopes.size;
	return vec_push(&builder->scopes, scope) ?: index_map_insert(&builder->index, hash, *ret);
}

int scope_builder_add_range(struct scope_builder *builder, uint32_t offset, uint32_t scope)
{
	struct jitbpf_scope_range range = {.offset = offset, .scope = scope};
	const struct jitbpf_scope_range *last = NULL;

	if (builder->ranges.size)
		last = &builder->ranges.data[builder->ranges.size - 1];
	if (last && (offset <= last->offset || last->scope == scope))
		return 0;
	return vec_push(&builder->ranges, range);
}

static uint8_t *put(uint8_t *to, const void *bytes, size_t size_bytes)
{
	if (size_bytes)
		memcpy(to, bytes, size_bytes);
	return to + size_bytes;
}

int scope_builder_make(const struct scope_builder *builder, size_t bytes_max, void **ret,
		       size_t *ret_bytes)
{
	const struct jitbpf_scope_table counts = {
		.method_count = (uint32_t)builder->methods.size,
		.scope_count = (uint32_t)builder->scopes.size,
		.range_count = (uint32_t)builder->ranges.size,
		.string_bytes = (uint32_t)builder->strings.size,
	};
	size_t method_bytes = counts.method_count * sizeof(builder->methods.data[0]);
	size_t scope_bytes = counts.scope_count * sizeof(builder->scopes.data[0]);
	size_t range_bytes = counts.range_count * sizeof(builder->ranges.data[0]);
	size_t size_bytes =
		sizeof(counts) + method_bytes + scope_bytes + range_bytes + builder->strings.size;
	uint8_t *table, *at;

	if (!counts.range_count)
		return -ENODATA;
	if (size_bytes > bytes_max)
		return -E2BIG;
	table = malloc(size_bytes);
	if (!table)
		return -ENOMEM;
	at = put(table, &counts, sizeof(counts));
	at = put(at, builder->methods.data, method_bytes);
	at = put(at, builder->scopes.data, scope_bytes);
	at = put(at, builder->ranges.data, range_bytes);
	put(at, builder->strings.data, builder->strings.size);
	*ret = table;
	*ret_bytes = size_bytes;
	return 0;
}
