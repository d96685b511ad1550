/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/ruby/ruby_function.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "runtimes/ruby/ruby_lines.h"
#include "runtimes/runtime_check.h"

#define PARENTS_MAX 16
#define IN	    " in " /* "block in NAME", "block (2 levels) in NAME" */

/* What was read of the body of code. */
struct body {
	uint8_t bytes[RUBY_BODY_BYTES_MAX];
};

static uint64_t word_of(const struct body *body, int16_t offset)
{
	uint64_t word;

	memcpy(&word, body->bytes + offset, sizeof(word));
	return word;
}

static uint32_t half_of(const struct body *body, int16_t offset)
{
	uint32_t half;

	memcpy(&half, body->bytes + offset, sizeof(half));
	return half;
}

static int read_body(const struct ruby_memory *ruby, uint64_t address, struct body *ret)
{
	size_t bytes = (size_t)ruby->layout->local + 8;

	return process_memory_read(ruby->memory, address, ret->bytes, bytes);
}

/* The same, of an rb_iseq_t. */
static int read_iseq(const struct ruby_memory *ruby, uint64_t address, struct body *ret)
{
	uint64_t body;
	int err = process_memory_word(ruby->memory, address + RUBY_ISEQ_BODY, &body);

	return err ?: read_body(ruby, body, ret);
}

struct runtime_check ruby_function_check(const struct ruby_layout *layout)
{
	/* Flags are left out: a garbage collection changes them. */
	return (struct runtime_check){
		.offset = 8,
		.size_bytes = RUBY_METHOD_BYTES - 8,
		.word_count = 2,
		.word = {RUBY_BODY_TYPE, RUBY_BODY_LINE},
		.name_count = 3,
		.native_names = 0,
		.name_at = {RUBY_BODY_BASE_LABEL, RUBY_BODY_BASE_LABEL, RUBY_BODY_LABEL},
		.name_word = {16, 24, 24},
	};
}

struct runtime_owner ruby_function_owner(void)
{
	return (struct runtime_owner){
		.object_at = RUNTIME_MORE_AT,
		.outer_at = RUNTIME_MORE_AT + RUBY_ENV_PREVIOUS - RUBY_ENV_METHOD,
		.outer_clear = 3,
		.outermost_mask = RUBY_ENV_LOCAL,
		.kind_at = 0,
		.kind_mask = RUBY_IMEMO_MASK,
		.kind_value = RUBY_IMEMO_METHOD,
		.via_value = RUBY_IMEMO_SVAR,
		.via_at = RUBY_SVAR_METHOD,
		.check_offset = 8,
		.check_bytes = RUBY_METHOD_BYTES - 8,
	};
}

static int check_of(const struct ruby_memory *ruby, const struct runtime_owner *owner_check,
		    uint64_t object, uint64_t owner, bool is_native, uint64_t *ret)
{
	const struct runtime_check check = ruby_function_check(ruby->layout);
	int err = runtime_check_read(ruby->memory, &check, object, is_native, ret);

	return err ?: runtime_check_add_owner(ruby->memory, owner_check, owner, ret);
}

/* Read the class of a method; 0: it is no method. */
static int read_method(const struct ruby_memory *ruby, uint64_t method, uint64_t *ret_class,
		       uint64_t *ret_definition)
{
	uint64_t words[RUBY_METHOD_BYTES / 8];
	int err = process_memory_read(ruby->memory, method, words, sizeof(words));

	if (err)
		return err;
	if ((words[0] & RUBY_IMEMO_MASK) != RUBY_IMEMO_METHOD)
		return -EBADMSG;
	*ret_class = words[RUBY_METHOD_OWNER / 8];
	*ret_definition = words[RUBY_METHOD_DEFINITION / 8];
	return 0;
}

static int read_native(const struct ruby_memory *ruby, uint64_t method,
		       struct runtime_function *ret)
{
	AUTO_FREE char *name = NULL;
	uint64_t class, definition, id;
	int err = read_method(ruby, method, &class, &definition);

	err = err ?: process_memory_word(ruby->memory, definition + RUBY_DEFINITION_NAME, &id);
	err = err ?: ruby_symbol_read(ruby, id, RUNTIME_NAME_MAX, &name);
	err = err ?: ruby_method_name(ruby, class, name, &ret->name);
	if (err)
		return err;
	ret->code = method; /* no position has a line */
	ret->file = strdup("");
	return ret->file ? 0 : -ENOMEM;
}

static int read_file(const struct ruby_memory *ruby, const struct body *body, char **ret)
{
	uint64_t path = word_of(body, RUBY_BODY_PATH), part;
	int err;

	if (!ruby_array_at(ruby, path, 1, &part) &&
	    !ruby_string_read(ruby, part, RUNTIME_FILE_MAX, ret))
		return 0;
	if (!ruby_array_at(ruby, path, 0, &part))
		path = part;
	err = ruby_string_read(ruby, path, RUNTIME_FILE_MAX, ret);
	return err;
}

/*
 * Replace the body of a part of code, such as what rescues from an exception, by that of the code
 * that it is a part of: Ruby gives both one name.
 */
static int to_whole(const struct ruby_memory *ruby, struct body *body)
{
	for (uint32_t i = 0; i < PARENTS_MAX; i++) {
		uint32_t type = half_of(body, RUBY_BODY_TYPE);
		uint64_t parent = word_of(body, ruby->layout->parent);
		int err;

		if ((type != RUBY_BODY_RESCUE && type != RUBY_BODY_ENSURE &&
		     type != RUBY_BODY_EVAL) ||
		    !parent)
			break;
		err = read_iseq(ruby, parent, body);
		if (err)
			return err;
	}
	return 0;
}

/* Returns true if code is that of a method, or a block in one. */
static bool is_of_method(const struct ruby_memory *ruby, const struct body *body)
{
	uint64_t local = word_of(body, ruby->layout->local);
	struct body outer;

	if (half_of(body, RUBY_BODY_TYPE) == RUBY_BODY_METHOD)
		return true;
	return local && !read_iseq(ruby, local, &outer) &&
	       half_of(&outer, RUBY_BODY_TYPE) == RUBY_BODY_METHOD;
}

static int write_name(const struct ruby_memory *ruby, const struct body *body, uint64_t owner,
		      char **ret)
{
	AUTO_FREE char *label = NULL, *method = NULL;
	uint64_t class, definition;
	const char *name, *in;
	int err = ruby_string_read(ruby, word_of(body, RUBY_BODY_LABEL), RUNTIME_NAME_MAX, &label);

	if (err)
		return err;
	if (!owner || !is_of_method(ruby, body)) {
		*ret = TAKE_PTR(label);
		return 0;
	}
	name = label;
	for (in = strstr(label, IN); in; in = strstr(name, IN))
		name = in + strlen(IN);
	err = read_method(ruby, owner, &class, &definition);
	err = err ?: ruby_method_name(ruby, class, name, &method);
	if (err)
		return err;
	return asprintf(ret, "%.*s%s", (int)(name - label), label, method) < 0 ? -ENOMEM : 0;
}

static uint32_t first_line(const struct ruby_memory *ruby, const struct body *body)
{
	if (ruby->layout->line_is_object) /* a number, as an object */
		return (uint32_t)(word_of(body, RUBY_BODY_LINE) >> 1);
	return half_of(body, RUBY_BODY_LINE);
}

static int read_code(const struct ruby_memory *ruby, uint64_t object, uint64_t owner,
		     struct runtime_function *ret)
{
	uint64_t info[4];
	struct body body;
	int err = read_body(ruby, object, &body);

	if (err)
		return err;
	ret->code = word_of(&body, RUBY_BODY_CODE);
	memcpy(info, body.bytes + ruby->layout->lines, sizeof(info));
	if (!ret->code || !half_of(&body, RUBY_BODY_SIZE))
		return -EBADMSG;
	err = ruby_lines_read(ruby->memory, info, half_of(&body, RUBY_BODY_SIZE), ret);
	err = err ?: read_file(ruby, &body, &ret->file);
	err = err ?: to_whole(ruby, &body);
	if (err)
		return err;
	ret->first_line = first_line(ruby, &body);
	return write_name(ruby, &body, owner, &ret->name);
}

int ruby_function_read(const struct ruby_memory *ruby, const struct runtime_owner *owner_check,
		       uint64_t object, uint64_t owner, struct runtime_function *ret)
{
	CLEANUP(runtime_function_deinit) struct runtime_function function = {0};
	uint64_t first, after;
	bool is_native;
	int err = process_memory_word(ruby->memory, object, &first);

	if (err)
		return err;
	is_native = (first & RUBY_IMEMO_MASK) == RUBY_IMEMO_METHOD;
	err = check_of(ruby, owner_check, object, owner, is_native, &function.check);
	if (!err)
		err = is_native ? read_native(ruby, object, &function)
				: read_code(ruby, object, owner, &function);
	if (err)
		return err;
	process_memory_refresh(ruby->memory);
	err = check_of(ruby, owner_check, object, owner, is_native, &after);
	if (!err && after != function.check)
		err = -EAGAIN;
	if (err)
		return err;
	*ret = function;
	function = (struct runtime_function){0};
	return 0;
}
