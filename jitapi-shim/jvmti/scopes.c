/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/jvmti/scopes.h"

#include <string.h>

/*
 * A scope; its first members are its key. Readers show lines only, so places on one line share a
 * scope, which has the position of the first place. Otherwise tables would be several times as
 * large.
 */
struct built_scope {
	uint32_t caller, method, line;
	int32_t position;
	uint32_t depth;
};

void scopes_init(struct scopes *scopes)
{
	*scopes = (struct scopes){
		.scopes = {.item_bytes = sizeof(struct built_scope),
			   .key_bytes = offsetof(struct built_scope, position)},
	};
	if (!buffer_add(&scopes->strings, "", 1)) /* offset 0 is the empty string */
		scopes->no_memory = true;
}

void scopes_deinit(struct scopes *scopes)
{
	buffer_deinit(&scopes->methods);
	buffer_items_deinit(&scopes->scopes);
	buffer_deinit(&scopes->ranges);
	buffer_deinit(&scopes->strings);
}

void scopes_reset(struct scopes *scopes)
{
	buffer_reset(&scopes->methods);
	buffer_items_reset(&scopes->scopes);
	buffer_reset(&scopes->ranges);
	buffer_reset(&scopes->strings);
	scopes->no_memory = !buffer_add(&scopes->strings, "", 1);
}

static uint32_t add_string(struct scopes *scopes, const char *string)
{
	size_t offset = scopes->strings.size_bytes;

	if (!string || !*string)
		return 0;
	if (buffer_add(&scopes->strings, string, strnlen(string, JITBPF_SCOPE_STRING_MAX)) &&
	    buffer_add(&scopes->strings, "", 1))
		return (uint32_t)offset;
	scopes->no_memory = true;
	return 0;
}

uint32_t scopes_add_method(struct scopes *scopes, const char *name, const char *source)
{
	uint32_t index =
		(uint32_t)(scopes->methods.size_bytes / sizeof(struct jitbpf_scope_method));
	struct jitbpf_scope_method method = {
		.name = add_string(scopes, name),
		.source = add_string(scopes, source),
	};

	if (!buffer_add(&scopes->methods, &method, sizeof(method)))
		scopes->no_memory = true;
	return index;
}

uint32_t scopes_add(struct scopes *scopes, uint32_t caller, uint32_t method, int32_t position,
		    uint32_t line)
{
	struct built_scope scope = {
		.caller = caller,
		.method = method,
		.position = position,
		.depth = 1,
		.line = line,
	};
	uint32_t index = buffer_items_find(&scopes->scopes, &scope);

	if (index != UINT32_MAX)
		return index;
	if (caller != JITBPF_NO_SCOPE) {
		const struct built_scope *outer = buffer_items_get(&scopes->scopes, caller);

		scope.depth = outer->depth + 1;
	}
	if (scope.depth > JITBPF_SCOPE_DEPTH_MAX)
		return JITBPF_NO_SCOPE;
	index = buffer_items_add(&scopes->scopes, &scope);
	scopes->no_memory |= index == UINT32_MAX;
	return index;
}

bool scopes_add_range(struct scopes *scopes, uint64_t offset, uint32_t scope)
{
	struct jitbpf_scope_range range = {.offset = (uint32_t)offset, .scope = scope};
	const struct jitbpf_scope_range *last = NULL;

	if (scopes->ranges.size_bytes)
		last = (const void *)(scopes->ranges.bytes + scopes->ranges.size_bytes -
				      sizeof(range));
	if (offset > UINT32_MAX || (last && offset <= last->offset))
		return false;
	if (last && last->scope == scope)
		return true;
	if (!buffer_add(&scopes->ranges, &range, sizeof(range)))
		scopes->no_memory = true;
	return true;
}

static bool add_scopes(const struct scopes *scopes, struct buffer *to)
{
	for (uint32_t i = 0; i < buffer_items_count(&scopes->scopes); i++) {
		const struct built_scope *built = buffer_items_get(&scopes->scopes, i);
		struct jitbpf_scope scope = {
			.caller = built->caller,
			.depth = built->depth,
			.method = built->method,
			.position = built->position,
			.line = built->line,
		};

		if (!buffer_add(to, &scope, sizeof(scope)))
			return false;
	}
	return true;
}

static bool add_all(struct buffer *to, const struct buffer *from)
{
	return !from->size_bytes || buffer_add(to, from->bytes, from->size_bytes);
}

const void *scopes_table(struct scopes *scopes, size_t max_bytes, struct buffer *room,
			 uint32_t *ret_bytes)
{
	struct jitbpf_scope_table counts = {
		.method_count =
			(uint32_t)(scopes->methods.size_bytes / sizeof(struct jitbpf_scope_method)),
		.scope_count = buffer_items_count(&scopes->scopes),
		.range_count =
			(uint32_t)(scopes->ranges.size_bytes / sizeof(struct jitbpf_scope_range)),
		.string_bytes = (uint32_t)scopes->strings.size_bytes,
	};

	if (scopes->no_memory || !counts.range_count ||
	    scopes->strings.size_bytes + scopes->ranges.size_bytes > max_bytes)
		return NULL;
	if (!buffer_add(room, &counts, sizeof(counts)) || !add_all(room, &scopes->methods) ||
	    !add_scopes(scopes, room) || !add_all(room, &scopes->ranges) ||
	    !add_all(room, &scopes->strings) || room->size_bytes > max_bytes)
		return NULL;
	*ret_bytes = (uint32_t)room->size_bytes;
	return room->bytes;
}
