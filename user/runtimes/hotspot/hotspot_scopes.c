/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/hotspot/hotspot_scopes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/scope.h"
#include "base/search.h"
#include "runtimes/hotspot/hotspot_method.h"
#include "runtimes/hotspot/hotspot_numbers.h"
#include "runtimes/scope_builder.h"

/* More than any compiled method has, and what a hostile one costs at most. */
#define SCOPES_MAX (1u << 17)
#define LINES_MAX  (1u << 18)

/* Reads of memory that a method needs, and the end of the request. */
#define READS_KEPT 192

/* A place of the code whose state is known. */
struct place {
	int32_t pc;    /* offset from the instructions; it ends the range of the place */
	int32_t scope; /* offset in the data; 0: none */
	int32_t objects, flags;
};

/* A method, and a scope that is in it. */
struct known_method {
	uint64_t address;
	uint32_t scope_method;		  /* INDEX_MAP_NONE: it has no name */
	struct runtime_function function; /* its lines */
};

struct known_scope {
	uint32_t offset; /* in the data */
	uint32_t scope;
};

struct reading {
	const struct process_memory *memory;
	const struct hotspot_layout *layout;
	const struct hotspot_compiled *compiled;
	struct place *places;
	uint8_t *data;
	uint64_t *metadata;
	VEC(struct known_method) methods;
	struct index_map method_index;
	size_t lines; /* of these methods */
	VEC(struct known_scope) scopes;
	struct index_map scope_index;
	struct scope_builder builder;
};

/* A scope as the data has it. */
struct raw_scope {
	uint32_t offset, sender; /* in the data; 0: none */
	uint64_t method;
	int32_t position;
};

static void end_reading(struct reading *reading)
{
	free(reading->places);
	free(reading->data);
	free(reading->metadata);
	vec_for_each (method, &reading->methods)
		runtime_function_deinit(&method->function);
	vec_deinit(&reading->methods);
	index_map_deinit(&reading->method_index);
	vec_deinit(&reading->scopes);
	index_map_deinit(&reading->scope_index);
	scope_builder_deinit(&reading->builder);
}

static int read_part(const struct process_memory *memory, const struct hotspot_part *part,
		     size_t bytes_max, void **ret)
{
	AUTO_FREE void *bytes = NULL;
	int err;

	if (!part->bytes)
		return -ENODATA;
	if (part->bytes > bytes_max)
		return -E2BIG;
	bytes = malloc(part->bytes);
	if (!bytes)
		return -ENOMEM;
	err = process_memory_read(memory, part->start, bytes, part->bytes);
	if (!err)
		*ret = TAKE_PTR(bytes);
	return err;
}

static bool is_method(const void *methods, uint32_t item, const void *address)
{
	return ((const struct known_method *)methods)[item].address == *(const uint64_t *)address;
}

/* A method without a valid name is kept as such, so that it is read once. */
static int add_method(struct reading *reading, uint64_t address)
{
	struct known_method method = {.address = address, .scope_method = INDEX_MAP_NONE};
	int err = hotspot_method_describe(reading->memory, reading->layout, address,
					  &method.function);

	if (!err)
		err = scope_builder_add_method(&reading->builder, method.function.name,
					       method.function.file, &method.scope_method);
	if (err == -EBADMSG || err == -EFAULT)
		err = 0;
	err = err ?: vec_push(&reading->methods, method);
	if (err)
		runtime_function_deinit(&method.function);
	else
		reading->lines += method.function.lines.size;
	return err
		       ?: index_map_insert(&reading->method_index, hash_mix(address, 0),
					   (uint32_t)reading->methods.size - 1);
}

/* Returns 0; -ENOENT if the method has no name, or there are too many; or another error. */
static int get_method(struct reading *reading, uint64_t address, const struct known_method **ret)
{
	uint32_t item = index_map_find(&reading->method_index, hash_mix(address, 0), is_method,
				       reading->methods.data, &address);
	int err = 0;

	if (item == INDEX_MAP_NONE) {
		if (reading->methods.size == HOTSPOT_SCOPE_METHODS_MAX ||
		    reading->lines >= LINES_MAX ||
		    process_memory_left(reading->memory) < READS_KEPT)
			return -ENOENT;
		item = (uint32_t)reading->methods.size;
		err = add_method(reading, address);
	}
	if (err)
		return err;
	*ret = &reading->methods.data[item];
	return (*ret)->scope_method == INDEX_MAP_NONE ? -ENOENT : 0;
}

static uint32_t line_of(const struct runtime_function *function, int32_t position)
{
	uint32_t after;

	if (position < 0)
		return 0;
	after = partition_point(0, (uint32_t)function->lines.size, i,
				function->lines.data[i].position <= (uint32_t)position);
	return after ? function->lines.data[after - 1].line : 0;
}

static bool is_scope(const void *scopes, uint32_t item, const void *offset)
{
	return ((const struct known_scope *)scopes)[item].offset == *(const uint32_t *)offset;
}

static bool find_scope(const struct reading *reading, uint32_t offset, uint32_t *ret)
{
	uint32_t item = index_map_find(&reading->scope_index, hash_mix(offset, 0), is_scope,
				       reading->scopes.data, &offset);

	if (item == INDEX_MAP_NONE)
		return false;
	*ret = reading->scopes.data[item].scope;
	return true;
}

static int keep_scope(struct reading *reading, uint32_t offset, uint32_t scope)
{
	struct known_scope known = {.offset = offset, .scope = scope};

	if (reading->scopes.size == SCOPES_MAX)
		return -E2BIG;
	return vec_push(&reading->scopes, known)
		       ?: index_map_insert(&reading->scope_index, hash_mix(offset, 0),
					   (uint32_t)reading->scopes.size - 1);
}

/* Numbers of a scope: its sender, its method (an index from 1), its position + 1. */
static int read_scope(const struct reading *reading, uint32_t offset, struct raw_scope *ret)
{
	const struct hotspot_compiled *compiled = reading->compiled;
	struct hotspot_numbers in = {
		.end = reading->data + compiled->data.bytes,
		.excluded = reading->layout->has_zero_free_numbers,
	};
	uint32_t method, position;

	if (offset >= compiled->data.bytes)
		return -EBADMSG;
	in.at = reading->data + offset;
	if (!hotspot_number_read(&in, &ret->sender) || !hotspot_number_read(&in, &method) ||
	    !hotspot_number_read(&in, &position) || !method ||
	    method > compiled->metadata.bytes / sizeof(uint64_t))
		return -EBADMSG;
	ret->offset = offset;
	ret->method = reading->metadata[method - 1];
	ret->position = (int32_t)(position - 1);
	return 0;
}

/* Returns 0; -ENOENT if there is no scope; or another error. */
static int add_scope(struct reading *reading, const struct raw_scope *raw, uint32_t *scope)
{
	const struct known_method *method = NULL;
	int err = get_method(reading, raw->method, &method);

	err = err
		      ?: scope_builder_add(&reading->builder, *scope, method->scope_method,
					   raw->position, line_of(&method->function, raw->position),
					   scope);
	if (err == -E2BIG) /* too deep */
		return -ENOENT;
	return err ?: keep_scope(reading, raw->offset, *scope);
}

/*
 * Get the scope at an offset in the data, and its callers. *ret is JITBPF_NO_SCOPE if a method has
 * no name, or there are too many.
 */
static int get_scope(struct reading *reading, uint32_t offset, uint32_t *ret)
{
	struct raw_scope chain[JITBPF_SCOPE_DEPTH_MAX];
	uint32_t depth = 0, scope = JITBPF_NO_SCOPE;
	int err = 0;

	*ret = JITBPF_NO_SCOPE;
	while (offset && !find_scope(reading, offset, &scope)) {
		if (depth == JITBPF_SCOPE_DEPTH_MAX)
			return 0;
		err = read_scope(reading, offset, &chain[depth]);
		if (err)
			return err;
		offset = chain[depth++].sender;
	}
	if (!offset && chain[depth - 1].method != reading->compiled->method)
		return -EBADMSG;
	while (depth-- && !err)
		err = add_scope(reading, &chain[depth], &scope);
	if (!err)
		*ret = scope;
	return err == -ENOENT ? 0 : err;
}

static int add_places(struct reading *reading, uint64_t code_bytes)
{
	size_t count = reading->compiled->pcs.bytes / sizeof(struct place);
	uint32_t next = 0, scope; /* begin of the next range */
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		const struct place *place = &reading->places[i];

		if (!place->scope || place->pc < 0 || (uint32_t)place->pc > code_bytes ||
		    (uint32_t)place->pc < next)
			continue;
		err = get_scope(reading, (uint32_t)place->scope, &scope);
		err = err ?: scope_builder_add_range(&reading->builder, next, scope);
		next = (uint32_t)place->pc + 1;
	}
	if (!err && !next)
		return -ENODATA;
	if (!err && next < code_bytes)
		err = scope_builder_add_range(&reading->builder, next, JITBPF_NO_SCOPE);
	return err;
}

int hotspot_scopes_make(const struct process_memory *memory, const struct hotspot_layout *layout,
			const struct hotspot_blob *blob, const struct hotspot_compiled *compiled,
			size_t bytes_max, void **ret, size_t *ret_bytes)
{
	CLEANUP(end_reading)
	struct reading reading = {
		.memory = memory,
		.layout = layout,
		.compiled = compiled,
	};
	int err =
		read_part(memory, &compiled->pcs, HOTSPOT_PCS_BYTES_MAX, (void **)&reading.places);

	err = err
		      ?: read_part(memory, &compiled->data, HOTSPOT_DATA_BYTES_MAX,
				   (void **)&reading.data);
	err = err
		      ?: read_part(memory, &compiled->metadata, HOTSPOT_METADATA_BYTES_MAX,
				   (void **)&reading.metadata);
	err = err ?: add_places(&reading, blob->code_end - blob->code_start);
	return err ?: scope_builder_make(&reading.builder, bytes_max, ret, ret_bytes);
}
