/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/php/php_function.h"

#include <string.h>

#include "base/scope.h"
#include "runtimes/php/php_object.h"
#include "runtimes/runtime_check.h"

#define OPS_AT_ONCE  128
#define OPS_LAST_MAX (1u << 24)

/* An original that closures are copied from. */
struct closure {
	uint64_t object;
	uint64_t check; /* of the object itself */
	bool is_method; /* its copies have its class */
};

/* A function that is being read, with its closures and theirs. */
struct reading {
	const struct process_memory *memory;
	const struct php_layout *layout;
	uint32_t ops_left; /* instructions that may still be read */
	struct closure closures[PHP_CLOSURES_MAX];
	uint32_t closure_count;
	bool converts;	  /* an instruction makes a closure of a function that has a name */
	bool has_methods; /* those of the class are among the closures */
};

/* Add the lines of instructions. An instruction without a line is on that of the one before. */
static int add_lines(struct reading *reading, struct runtime_function *ret, const uint8_t *ops,
		     uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct runtime_line line = {.position = (first + i) * PHP_OP_BYTES};
		const uint8_t *op = ops + i * PHP_OP_BYTES;
		size_t size = ret->lines.size;
		int err;

		reading->converts = reading->converts || op[PHP_OP_CODE] == PHP_OP_CONVERT;
		memcpy(&line.line, op + PHP_OP_LINE, sizeof(line.line));
		if (!line.line || (size && ret->lines.data[size - 1].line == line.line))
			continue;
		err = vec_push(&ret->lines, line);
		if (err)
			return err;
	}
	return 0;
}

/* The instructions that cannot be read have no lines. */
static int read_lines(struct reading *reading, const struct php_object *f,
		      struct runtime_function *ret)
{
	const struct process_memory *memory = reading->memory;
	uint32_t last = php_object_half(f, f->layout->last);
	struct runtime_line end = {0};
	uint8_t ops[OPS_AT_ONCE * PHP_OP_BYTES];

	if (!ret->code || ret->code % 8 || !last || last > OPS_LAST_MAX)
		return -EBADMSG;
	if (last > reading->ops_left)
		last = reading->ops_left;
	reading->ops_left -= last;
	for (uint32_t first = 0; first < last; first += OPS_AT_ONCE) {
		uint32_t count = last - first < OPS_AT_ONCE ? last - first : OPS_AT_ONCE;
		int err = process_memory_read(memory, ret->code + (uint64_t)first * PHP_OP_BYTES,
					      ops, (size_t)count * PHP_OP_BYTES);

		if (err == -EFAULT)
			break;
		err = err ?: add_lines(reading, ret, ops, first, count);
		if (err)
			return err;
		end.position = (first + count) * PHP_OP_BYTES;
	}
	/* The position of another function, as a register can have it during a call, has no line.
	 */
	return end.position ? vec_push(&ret->lines, end) : 0;
}

/* Add the closures of a function to those that are to be read. What cannot be read has none. */
static int find_closures(struct reading *reading, uint64_t object)
{
	uint32_t room = PHP_CLOSURES_MAX - reading->closure_count, count;
	uint64_t originals[PHP_CLOSURES_MAX], at;
	uint8_t bytes[4 + 8 + 8]; /* count, another pointer, pointer */
	int err;

	if (reading->layout->closure_count == RUNTIME_NO_OFFSET || !room)
		return 0;
	err = process_memory_read(reading->memory,
				  object + (uint64_t)reading->layout->closure_count, bytes,
				  sizeof(bytes));
	if (err)
		return err == -EFAULT ? 0 : err;
	memcpy(&count, bytes, sizeof(count));
	memcpy(&at, bytes + 12, sizeof(at));
	if (count > room)
		count = room;
	if (!count)
		return 0;
	err = process_memory_read(reading->memory, at, originals, count * sizeof(*originals));
	if (err)
		return err == -EFAULT ? 0 : err;
	for (uint32_t i = 0; i < count; i++)
		reading->closures[reading->closure_count++] =
			(struct closure){.object = originals[i]};
	return 0;
}

/*
 * Add the methods of a function's class to those that are to be read, if it makes closures of
 * functions that have a name: most of them are of its class. A closure has a copy of the method.
 */
static int find_methods(struct reading *reading, uint64_t object, const struct php_object *f)
{
	uint32_t room = PHP_CLOSURES_MAX - reading->closure_count, count;
	uint64_t class_at = php_object_word(f, PHP_FUNCTION_SCOPE), at;
	uint8_t table[8 + 4], buckets[PHP_CLOSURES_MAX * PHP_BUCKET_BYTES];
	int err;

	if (reading->layout->closure_count == RUNTIME_NO_OFFSET || !reading->converts ||
	    reading->has_methods || !class_at || !room)
		return 0;
	reading->has_methods = true;
	err = process_memory_read(reading->memory, class_at + PHP_CLASS_METHODS + PHP_TABLE_BUCKETS,
				  table, sizeof(table));
	if (err)
		return err == -EFAULT ? 0 : err;
	memcpy(&at, table, sizeof(at));
	memcpy(&count, table + (PHP_TABLE_USED - PHP_TABLE_BUCKETS), sizeof(count));
	if (count > room)
		count = room;
	if (!count)
		return 0;
	err = process_memory_read(reading->memory, at, buckets, (size_t)count * PHP_BUCKET_BYTES);
	if (err)
		return err == -EFAULT ? 0 : err;
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *bucket = buckets + i * PHP_BUCKET_BYTES;
		struct closure method = {.is_method = true};

		memcpy(&method.object, bucket, sizeof(method.object));
		if (bucket[PHP_BUCKET_TYPE] && method.object != object)
			reading->closures[reading->closure_count++] = method;
	}
	return 0;
}

/* Make what is known of a function, but for its closures, and find these. */
static int make_function(struct reading *reading, uint64_t object, struct php_object *f,
			 struct runtime_function *ret)
{
	int err = 0;

	ret->file = strdup(php_object_is_native(f) ? "" : f->file.text);
	if (!ret->file)
		return -ENOMEM;
	if (php_object_is_native(f)) {
		ret->code = object; /* no position has a line */
	} else {
		ret->first_line = php_object_half(f, reading->layout->line_start);
		ret->code = php_object_word(f, reading->layout->opcodes);
		err = read_lines(reading, f, ret);
		err = err ?: find_closures(reading, object);
		err = err ?: find_methods(reading, object, f);
	}
	ret->check = php_object_check(f);
	return err ?: php_object_name(f, &ret->name);
}

static int read_closure(struct reading *reading, struct closure *closure,
			const struct php_object *maker, struct runtime_function *ret)
{
	CLEANUP(php_object_deinit) struct php_object f = {.layout = reading->layout};
	CLEANUP(runtime_function_deinit) struct runtime_function function = {0};
	int err = php_object_read(reading->memory, closure->object, &f);

	if (!err && php_object_is_native(&f))
		return -EBADMSG;
	if (err)
		return err;
	closure->check = php_object_check(&f);
	if (!closure->is_method)
		err = php_object_set_class(&f, maker);
	err = err ?: make_function(reading, closure->object, &f, &function);
	if (err)
		return err;
	*ret = function;
	function = (struct runtime_function){0};
	return 0;
}

/* Returns true if an error is of one closure only. */
static bool is_of_closure(int err)
{
	return err == -EBADMSG || err == -EFAULT;
}

/* Read the closures that were found; reading them finds more. Those that are none are dropped. */
static int read_closures(struct reading *reading, const struct php_object *maker,
			 struct runtime_function *ret)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < reading->closure_count; i++) {
		struct closure closure = reading->closures[i];
		struct runtime_function function = {0};
		int err = read_closure(reading, &closure, maker, &function);

		if (is_of_closure(err))
			continue;
		err = err ?: vec_push(&ret->copied, function);
		if (err) {
			runtime_function_deinit(&function);
			return err;
		}
		reading->closures[kept++] = closure;
	}
	reading->closure_count = kept;
	return 0;
}

/* Drop the closures that have changed while they were read. */
static int drop_changed(const struct reading *reading, const struct runtime_check *check,
			struct runtime_function *ret)
{
	size_t kept = 0;

	for (uint32_t i = 0; i < reading->closure_count; i++) {
		const struct closure *closure = &reading->closures[i];
		uint64_t after;
		int err =
			runtime_check_read(reading->memory, check, closure->object, false, &after);

		if (err && !is_of_closure(err))
			return err;
		if (err || after != closure->check) {
			runtime_function_deinit(&ret->copied.data[i]);
			continue;
		}
		if (kept != i) {
			ret->copied.data[kept] = ret->copied.data[i];
			ret->copied.data[i] = (struct runtime_function){0};
		}
		kept++;
	}
	ret->copied.size = kept;
	return 0;
}

int php_function_read(const struct process_memory *memory, const struct php_layout *layout,
		      uint64_t object, struct runtime_function *ret)
{
	CLEANUP(php_object_deinit) struct php_object f = {.layout = layout};
	CLEANUP(runtime_function_deinit) struct runtime_function function = {0};
	struct runtime_check check = php_function_check(layout);
	struct reading reading = {
		.memory = memory, .layout = layout, .ops_left = RUNTIME_LINES_MAX - 1};
	int err = php_object_read(memory, object, &f);
	uint64_t after;

	err = err ?: make_function(&reading, object, &f, &function);
	err = err ?: read_closures(&reading, &f, &function);
	if (err)
		return err;
	process_memory_refresh(memory);
	err = runtime_check_read(memory, &check, object, php_object_is_native(&f), &after);
	if (!err && after != function.check)
		err = -EAGAIN;
	err = err ?: drop_changed(&reading, &check, &function);
	if (err)
		return err;
	*ret = function;
	function = (struct runtime_function){0};
	return 0;
}
