/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/php/php_object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "runtimes/runtime_check.h"

void php_object_deinit(struct php_object *f)
{
	free(f->name.text);
	free(f->file.text);
	free(f->class_name.text);
}

uint64_t php_object_word(const struct php_object *f, int16_t offset)
{
	uint64_t word;

	memcpy(&word, f->bytes + offset, sizeof(word));
	return word;
}

uint32_t php_object_half(const struct php_object *f, int16_t offset)
{
	uint32_t half;

	memcpy(&half, f->bytes + offset, sizeof(half));
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

bool php_object_is_native(const struct php_object *f)
{
	return f->type == PHP_FUNCTION_INTERNAL;
}

/* In the order of php_function_check(). */
uint64_t php_object_check(const struct php_object *f)
{
	uint64_t check =
		runtime_check_fold(RUNTIME_CHECK_BEGIN, php_object_word(f, PHP_FUNCTION_NAME));

	check = runtime_check_fold(check, php_object_word(f, PHP_FUNCTION_SCOPE));
	if (!php_object_is_native(f)) {
		check = runtime_check_fold(check, php_object_word(f, f->layout->opcodes));
		check = runtime_check_fold(check, php_object_word(f, f->layout->filename));
		check = runtime_check_fold(check, php_object_word(f, f->layout->line_start));
	}
	check = runtime_check_fold(check, f->name.hash);
	check = runtime_check_fold(check, f->class_name_at);
	if (!php_object_is_native(f))
		check = runtime_check_fold(check, f->file.hash);
	return check & ~1ull;
}

static int read_class(const struct process_memory *memory, struct php_object *f)
{
	uint64_t class_at = php_object_word(f, PHP_FUNCTION_SCOPE);
	int err = 0;

	if (class_at)
		err = process_memory_read(memory, class_at + PHP_CLASS_NAME, &f->class_name_at,
					  sizeof(f->class_name_at));
	if (!err && class_at && !f->class_name_at)
		return -EBADMSG;
	return err ?: php_string_read(memory, f->class_name_at, RUNTIME_NAME_MAX, &f->class_name);
}

int php_object_read(const struct process_memory *memory, uint64_t object, struct php_object *f)
{
	/* A function of C is smaller, and may be the last one of a page. */
	size_t common_bytes = PHP_FUNCTION_SCOPE + 8;
	int err = process_memory_read(memory, object, f->bytes, common_bytes);

	if (err)
		return err;
	f->type = f->bytes[PHP_FUNCTION_TYPE];
	if (f->type != PHP_FUNCTION_INTERNAL && f->type != PHP_FUNCTION_USER &&
	    f->type != PHP_FUNCTION_EVAL)
		return -EBADMSG;
	err = php_string_read(memory, php_object_word(f, PHP_FUNCTION_NAME), RUNTIME_NAME_MAX,
			      &f->name);
	err = err ?: read_class(memory, f);
	if (err || php_object_is_native(f))
		return err;
	err = process_memory_read(memory, object + common_bytes, f->bytes + common_bytes,
				  sizeof(f->bytes) - common_bytes);
	if (!err && !php_object_word(f, f->layout->filename))
		return -EBADMSG;
	return err
		       ?: php_string_read(memory, php_object_word(f, f->layout->filename),
					  RUNTIME_FILE_MAX, &f->file);
}

int php_object_name(const struct php_object *f, char **ret)
{
	const char *class_name = f->class_name.text, *name = f->name.text;
	int err;

	if (*name)
		err = asprintf(ret, "%s%s%s", class_name, *class_name ? "::" : "", name);
	else if (php_object_is_native(f))
		err = asprintf(ret, "{internal}");
	else if (f->type == PHP_FUNCTION_EVAL)
		err = asprintf(ret, "eval()");
	else
		err = asprintf(ret, "{main} %s", path_file(f->file.text));
	return err < 0 ? -ENOMEM : 0;
}

int php_object_set_class(struct php_object *f, const struct php_object *maker)
{
	char *name = strdup(maker->class_name.text);

	if (!name)
		return -ENOMEM;
	memcpy(f->bytes + PHP_FUNCTION_SCOPE, maker->bytes + PHP_FUNCTION_SCOPE, 8);
	f->class_name_at = maker->class_name_at;
	free(f->class_name.text);
	f->class_name.text = name;
	return 0;
}
