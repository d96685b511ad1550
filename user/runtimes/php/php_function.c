/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/php/php_function.h"

#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "base/scope.h"
#include "runtimes/php/php_string.h"
#include "runtimes/runtime_check.h"

#define OBJECT_BYTES 184 /* up to and with the line numbers of the newest layout */
#define OPS_AT_ONCE  128
#define OPS_LAST_MAX (1u << 24)

/* What was read of a function. */
struct php_function {
	const struct php_layout *layout;
	uint8_t object[OBJECT_BYTES];
	uint8_t type;
	struct php_string name, file, class_name;
	uint64_t class_name_at; /* the word at PHP_CLASS_NAME of the class; 0: there is no class */
};

static void release(struct php_function *f)
{
	free(f->name.text);
	free(f->file.text);
	free(f->class_name.text);
}

static uint64_t word_at(const struct php_function *f, int16_t offset)
{
	uint64_t word;

	memcpy(&word, f->object + offset, sizeof(word));
	return word;
}

static uint32_t half_at(const struct php_function *f, int16_t offset)
{
	uint32_t half;

	memcpy(&half, f->object + offset, sizeof(half));
	return half;
}

struct runtime_check php_function_check(const struct php_layout *layout)
{
	return (struct runtime_check){
		.offset = PHP_FUNCTION_NAME, /* and PHP_FUNCTION_SCOPE */
		.size_bytes = 16,
		.word_count = 3,
		.word = {layout->opcodes, layout->filename, layout->line_start},
		.name_count = 3,
		.native_names = 2,
		.name_at = {PHP_FUNCTION_NAME, PHP_FUNCTION_SCOPE, layout->filename},
		.name_word = {PHP_STRING_HASH, PHP_CLASS_NAME, PHP_STRING_HASH},
	};
}

static bool is_native(const struct php_function *f)
{
	return f->type == PHP_FUNCTION_INTERNAL;
}

/* Fold the words of php_function_check(), in its order. */
static uint64_t check_of(const struct php_function *f)
{
	uint64_t check = runtime_check_fold(RUNTIME_CHECK_BEGIN, word_at(f, PHP_FUNCTION_NAME));

	check = runtime_check_fold(check, word_at(f, PHP_FUNCTION_SCOPE));
	if (!is_native(f)) {
		check = runtime_check_fold(check, word_at(f, f->layout->opcodes));
		check = runtime_check_fold(check, word_at(f, f->layout->filename));
		check = runtime_check_fold(check, word_at(f, f->layout->line_start));
	}
	check = runtime_check_fold(check, f->name.hash);
	check = runtime_check_fold(check, f->class_name_at);
	if (!is_native(f))
		check = runtime_check_fold(check, f->file.hash);
	return check & ~1ull;
}

static int read_class(const struct process_memory *memory, struct php_function *f)
{
	uint64_t class_at = word_at(f, PHP_FUNCTION_SCOPE);
	int err = 0;

	if (class_at)
		err = process_memory_read(memory, class_at + PHP_CLASS_NAME, &f->class_name_at,
					  sizeof(f->class_name_at));
	if (!err && class_at && !f->class_name_at)
		return -EBADMSG;
	return err ?: php_string_read(memory, f->class_name_at, RUNTIME_NAME_MAX, &f->class_name);
}

static int read_object(const struct process_memory *memory, uint64_t object, struct php_function *f)
{
	/* A function of C is smaller, and may be the last one of a page. */
	size_t common_bytes = PHP_FUNCTION_SCOPE + 8;
	int err = process_memory_read(memory, object, f->object, common_bytes);

	if (err)
		return err;
	f->type = f->object[PHP_FUNCTION_TYPE];
	if (f->type != PHP_FUNCTION_INTERNAL && f->type != PHP_FUNCTION_USER &&
	    f->type != PHP_FUNCTION_EVAL)
		return -EBADMSG;
	err = php_string_read(memory, word_at(f, PHP_FUNCTION_NAME), RUNTIME_NAME_MAX, &f->name);
	err = err ?: read_class(memory, f);
	if (err || is_native(f))
		return err;
	err = process_memory_read(memory, object + common_bytes, f->object + common_bytes,
				  sizeof(f->object) - common_bytes);
	if (!err && !word_at(f, f->layout->filename))
		return -EBADMSG;
	return err
		       ?: php_string_read(memory, word_at(f, f->layout->filename), RUNTIME_FILE_MAX,
					  &f->file);
}

/* Add the lines of instructions. An instruction without a line is on that of the one before. */
static int add_lines(struct runtime_function *ret, const uint8_t *ops, uint32_t first,
		     uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct runtime_line line = {.position = (first + i) * PHP_OP_BYTES};
		size_t size = ret->lines.size;
		int err;

		memcpy(&line.line, ops + i * PHP_OP_BYTES + PHP_OP_LINE, sizeof(line.line));
		if (!line.line || (size && ret->lines.data[size - 1].line == line.line))
			continue;
		err = vec_push(&ret->lines, line);
		if (err)
			return err;
	}
	return 0;
}

/* The instructions that cannot be read have no lines. */
static int read_lines(const struct process_memory *memory, const struct php_function *f,
		      struct runtime_function *ret)
{
	uint32_t last = half_at(f, f->layout->last);
	struct runtime_line end = {0};
	uint8_t ops[OPS_AT_ONCE * PHP_OP_BYTES];

	if (!ret->code || ret->code % 8 || !last || last > OPS_LAST_MAX)
		return -EBADMSG;
	if (last > RUNTIME_LINES_MAX - 1)
		last = RUNTIME_LINES_MAX - 1;
	for (uint32_t first = 0; first < last; first += OPS_AT_ONCE) {
		uint32_t count = last - first < OPS_AT_ONCE ? last - first : OPS_AT_ONCE;
		int err = process_memory_read(memory, ret->code + (uint64_t)first * PHP_OP_BYTES,
					      ops, (size_t)count * PHP_OP_BYTES);

		if (err == -EFAULT)
			break;
		err = err ?: add_lines(ret, ops, first, count);
		if (err)
			return err;
		end.position = (first + count) * PHP_OP_BYTES;
	}
	/* The position of another function, as a register can have it during a call, has no line.
	 */
	return end.position ? vec_push(&ret->lines, end) : 0;
}

static int write_name(const struct php_function *f, char **ret)
{
	const char *class_name = f->class_name.text, *name = f->name.text;
	int err;

	if (*name)
		err = asprintf(ret, "%s%s%s", class_name, *class_name ? "::" : "", name);
	else if (is_native(f))
		err = asprintf(ret, "{internal}");
	else if (f->type == PHP_FUNCTION_EVAL)
		err = asprintf(ret, "eval()");
	else
		err = asprintf(ret, "{main} %s", path_file(f->file.text));
	return err < 0 ? -ENOMEM : 0;
}

int php_function_read(const struct process_memory *memory, const struct php_layout *layout,
		      uint64_t object, struct runtime_function *ret)
{
	CLEANUP(release) struct php_function f = {.layout = layout};
	CLEANUP(runtime_function_deinit) struct runtime_function function = {0};
	struct runtime_check check = php_function_check(layout);
	int err = read_object(memory, object, &f);
	uint64_t after;

	if (err)
		return err;
	if (is_native(&f)) {
		function.file = strdup("");
		if (!function.file)
			return -ENOMEM;
		function.code = object; /* no position has a line */
	} else {
		function.file = TAKE_PTR(f.file.text);
		function.first_line = half_at(&f, layout->line_start);
		function.code = word_at(&f, layout->opcodes);
		err = read_lines(memory, &f, &function);
	}
	function.check = check_of(&f);
	if (!err) {
		f.file.text = f.file.text ?: strdup(function.file);
		err = f.file.text ? write_name(&f, &function.name) : -ENOMEM;
	}
	process_memory_refresh(memory);
	err = err ?: runtime_check_read(memory, &check, object, is_native(&f), &after);
	if (err)
		return err;
	if (after != function.check)
		return -EAGAIN;
	*ret = function;
	function = (struct runtime_function){0};
	return 0;
}
