/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/v8/v8_function.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "runtimes/runtime_check.h"
#include "runtimes/v8/v8_positions.h"
#include "runtimes/v8/v8_scope.h"
#include "runtimes/v8/v8_text.h"

#define SHARED_DATA 8 /* offset in SharedFunctionInfo: the bytecode, or code that has it */

/* Where code that was compiled has the bytecode, which depends on the version. */
static const int32_t code_bytecode[] = {8, 16};

#define TAG 1

/* The header of BytecodeArray grew in V8 12, and the order of its members changed. */
#define LONG_HEADER	    64
#define POSITIONS	    32
#define POSITIONS_OF_LONG   24
#define POSITIONS_BYTES_MAX (256 << 10)
#define BYTECODE_BYTES_MAX  (16 << 20)

struct parts {
	uint64_t shared, script_object;
	struct v8_scope scope;
	struct v8_script script;
	bool has_positions;
};

/* Find the name and the positions of a function. */
static int read_scope(const struct v8_heap *heap, struct parts *parts)
{
	uint64_t name;
	uint16_t type;
	int err = v8_word(heap, parts->shared, heap->file->shared_name, &name);

	/* 0: it has no name, and was not compiled. */
	if (err || !name)
		return err;
	err = v8_type(heap, name, &type);
	if (err)
		return err;
	if (v8_is_text(type)) {
		parts->scope.name = name;
		return 0;
	}
	parts->has_positions = true;
	return v8_scope_read(heap, name, &parts->scope);
}

/* Of the name and the file in what a function is called, which has room for its position, too. */
#define NAME_BYTES_MAX 384
#define FILE_BYTES_MAX 512

static int read_name(const struct v8_heap *heap, const struct v8_scope *scope, char **ret)
{
	const uint64_t names[] = {scope->name, scope->inferred_name};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		AUTO_FREE char *name = NULL;
		int err = names[i] ? v8_text_read(heap, names[i], NAME_BYTES_MAX, &name) : 0;

		if (err)
			return err;
		if (name && *name) {
			*ret = TAKE_PTR(name);
			return 0;
		}
	}
	*ret = strdup("(anonymous)");
	return *ret ? 0 : -ENOMEM;
}

static int read_file(const struct v8_heap *heap, uint64_t name, char **ret)
{
	int err = v8_text_read(heap, name, RUNTIME_FILE_MAX, ret);

	if (err != -EBADMSG)
		return err;
	*ret = strdup("");
	return *ret ? 0 : -ENOMEM;
}

/* Functions of one name are told apart by where they begin. */
static int add_place(struct runtime_function *function, const struct v8_lines *lines, int32_t start)
{
	const char *file = function->file;
	AUTO_FREE char *name = TAKE_PTR(function->name);
	size_t bytes = strlen(file);
	int made;

	/* The end of a path says more, but not the rest of a character. */
	if (bytes > FILE_BYTES_MAX)
		file += bytes - FILE_BYTES_MAX;
	while ((*file & 0xc0) == 0x80)
		file++;
	made = function->first_line ? asprintf(&function->name, "%s %s:%u:%d", name, file,
					       function->first_line, start - lines->line_start + 1)
				    : asprintf(&function->name, "%s %s", name, file);
	if (made >= 0)
		return 0;
	function->name = NULL;
	return -ENOMEM;
}

/* Find the bytecode of a function. Returns -EBADMSG if it has none. */
static int find_bytecode(const struct v8_heap *heap, uint64_t shared, uint64_t *ret)
{
	uint64_t data, bytecode;
	int err = v8_word(heap, shared, SHARED_DATA, &data);

	if (err)
		return err;
	*ret = data;
	err = v8_expect(heap, data, heap->file->type_code);
	for (size_t i = 0; i < ARRAY_SIZE(code_bytecode) && err == -EBADMSG; i++) {
		err = v8_word(heap, data, code_bytecode[i], &bytecode);
		err = err ?: v8_expect(heap, bytecode, heap->file->type_code);
		*ret = bytecode;
	}
	return err;
}

/* Read the table of positions of bytecode, for free(). -EBADMSG: it has none. */
static int read_positions(const struct v8_heap *heap, uint64_t bytecode, uint8_t **ret,
			  int32_t *ret_bytes)
{
	const struct v8_file *file = heap->file;
	int32_t at = file->code_data >= LONG_HEADER ? POSITIONS_OF_LONG : POSITIONS;
	AUTO_FREE uint8_t *table = NULL;
	uint64_t array;
	int err = v8_word(heap, bytecode, at, &array);

	err = err ?: v8_integer(heap, array, file->array_length, ret_bytes);
	if (err)
		return err;
	if (*ret_bytes <= 0 || *ret_bytes > POSITIONS_BYTES_MAX)
		return -EBADMSG;
	table = malloc((size_t)*ret_bytes);
	if (!table)
		return -ENOMEM;
	err = process_memory_read(heap->memory, v8_address(array) + (uint64_t)file->array_data,
				  table, (size_t)*ret_bytes);
	if (!err)
		*ret = TAKE_PTR(table);
	return err;
}

/*
 * Add the lines of bytecode. The offset in a frame is relative to the object of the bytecode. A
 * table that does not fit the function is none.
 */
static int add_lines(const struct v8_heap *heap, const struct parts *parts,
		     const struct v8_lines *lines, struct runtime_function *ret)
{
	int32_t bias = heap->file->code_data - TAG, bytes, size_bytes, offset, position, last = -2;
	AUTO_FREE uint8_t *table = NULL;
	struct v8_positions positions;
	uint64_t bytecode;
	int err = find_bytecode(heap, parts->shared, &bytecode);

	err = err ?: v8_integer(heap, bytecode, heap->file->array_length, &size_bytes);
	err = err ?: read_positions(heap, bytecode, &table, &bytes);
	if (err)
		return err;
	if (size_bytes < 0 || size_bytes > BYTECODE_BYTES_MAX)
		return -EBADMSG;
	positions = v8_positions_of(table, (size_t)bytes);
	while (ret->lines.size < RUNTIME_LINES_MAX &&
	       (err = v8_positions_next(&positions, &offset, &position)) > 0) {
		struct runtime_line line = {.line = v8_line_of(lines, position)};

		if (offset < last || offset >= size_bytes || position < parts->scope.start ||
		    position > parts->scope.end)
			return -EBADMSG;
		line.position = (uint32_t)(bias + (offset < 0 ? 0 : offset));
		/* The last one of an offset counts. */
		if (ret->lines.size && offset == last)
			ret->lines.size--;
		last = offset;
		if (vec_push(&ret->lines, line))
			return -ENOMEM;
	}
	return err;
}

/* Lines are left out where they cannot be found. */
static int read_lines(const struct v8_heap *heap, const struct parts *parts,
		      struct runtime_function *ret)
{
	CLEANUP(v8_lines_deinit) struct v8_lines lines = {0};
	int err = -EBADMSG;

	if (parts->has_positions)
		err = v8_lines_find(heap, &parts->script, parts->scope.start, parts->scope.end,
				    &lines);
	if (err && err != -EBADMSG)
		return err;
	ret->first_line = err ? 0 : v8_line_of(&lines, parts->scope.start);
	err = add_place(ret, &lines, parts->scope.start);
	err = err ?: ret->first_line ? add_lines(heap, parts, &lines, ret) : 0;
	if (err == -EBADMSG || err == -EFAULT)
		ret->lines.size = 0;
	return err == -EBADMSG || err == -EFAULT ? 0 : err;
}

static int read_parts(const struct v8_heap *heap, uint64_t address, struct parts *ret)
{
	int err;

	*ret = (struct parts){.shared = address + TAG};
	err = v8_expect(heap, ret->shared, heap->file->type_shared);
	err = err ?: v8_word(heap, ret->shared, heap->file->shared_script, &ret->script_object);
	err = err ?: v8_script_read(heap, ret->script_object, &ret->script);
	return err ?: read_scope(heap, ret);
}

int v8_function_read(const struct v8_heap *heap, const struct runtime_check *check,
		     uint64_t address, struct runtime_function *ret)
{
	CLEANUP(runtime_function_deinit) struct runtime_function made = {0};
	struct parts parts;
	uint64_t again;
	int err = runtime_check_read(heap->memory, check, address, false, &made.check);

	err = err ?: read_parts(heap, address, &parts);
	err = err ?: read_name(heap, &parts.scope, &made.name);
	err = err ?: read_file(heap, parts.script.name, &made.file);
	err = err ?: read_lines(heap, &parts, &made);
	process_memory_refresh(heap->memory);
	err = err ?: runtime_check_read(heap->memory, check, address, false, &again);
	err = err ?: v8_expect(heap, parts.shared, heap->file->type_shared);
	if (err)
		return err;
	if (again != made.check)
		return -EAGAIN;
	/* A position would be a line. */
	if (!made.lines.size && vec_push(&made.lines, ((struct runtime_line){0, 0})))
		return -ENOMEM;
	*ret = made;
	made = (struct runtime_function){0};
	return 0;
}
