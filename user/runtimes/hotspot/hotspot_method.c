/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/hotspot/hotspot_method.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/utf8.h"
#include "runtimes/hotspot/hotspot_lines.h"
#include "runtimes/runtime_check.h"

#define SYMBOL_BYTES_MAX     1024
#define LINE_TABLE_BYTES_MAX (64u << 10)
#define OBJECT_METHODS_MAX   64

/* The word of a symbol without its lowest 16 bits, which count references. */
#define SYMBOL_IDENTITY 0xffffffffffff0000

/* The parts of a method. */
struct method {
	uint64_t const_method, constants, class;
	uint16_t name, code_bytes;
	uint32_t flags, words;
};

struct runtime_check hotspot_method_check(const struct hotspot_layout *layout)
{
	return (struct runtime_check){
		.offset = (int16_t)layout->method_const,
		.size_bytes = 8,
		.link_count = 4,
		.link =
			{
				{.step = (int16_t)layout->method_const,
				 .word_at = (int16_t)layout->const_code_bytes,
				 .word_mask = UINT64_MAX},
				{.step = (int16_t)layout->const_constants,
				 .word_at = RUNTIME_NO_OFFSET,
				 .folds_address = true},
				{.step = (int16_t)layout->constants_holder,
				 .word_at = RUNTIME_NO_OFFSET,
				 .folds_address = true},
				{.step = (int16_t)layout->class_name,
				 .folds_address = true,
				 .word_mask = SYMBOL_IDENTITY},
			},
	};
}

static int read_half(const struct process_memory *memory, uint64_t address, uint16_t *ret)
{
	return process_memory_read(memory, address, ret, sizeof(*ret));
}

/* Read the string at an address, for free(). -EBADMSG: it is empty, or too long for a name. */
static int read_symbol(const struct process_memory *memory, const struct hotspot_layout *layout,
		       uint64_t symbol, char **ret)
{
	AUTO_FREE char *text = NULL;
	uint16_t length;
	int err = read_half(memory, symbol + layout->symbol_length, &length);

	if (err)
		return err;
	if (!length || length > SYMBOL_BYTES_MAX)
		return -EBADMSG;
	text = calloc(1, length + 1u);
	if (!text)
		return -ENOMEM;
	err = process_memory_read(memory, symbol + layout->symbol_bytes, text, length);
	if (err)
		return err;
	if (!*text)
		return -EBADMSG;
	utf8_mend(text, false);
	*ret = TAKE_PTR(text);
	return 0;
}

/* Read the string at an index of the constants. */
static int read_constant(const struct process_memory *memory, const struct hotspot_layout *layout,
			 uint64_t constants, uint16_t index, char **ret)
{
	uint64_t symbol;
	int err = process_memory_word(memory, constants + layout->constants_size + index * 8ull,
				      &symbol);

	return err ?: read_symbol(memory, layout, symbol, ret);
}

static int read_class_name(const struct process_memory *memory, const struct hotspot_layout *layout,
			   uint64_t class, char **ret)
{
	uint64_t name;
	int err = process_memory_word(memory, class + layout->class_name, &name);

	return err ?: read_symbol(memory, layout, name, ret);
}

static int read_parts(const struct process_memory *memory, const struct hotspot_layout *layout,
		      uint64_t address, struct method *ret)
{
	int err = process_memory_word(memory, address + layout->method_const, &ret->const_method);
	uint16_t flags;

	err = err
		      ?: process_memory_word(memory, ret->const_method + layout->const_constants,
					     &ret->constants);
	err = err
		      ?: process_memory_word(memory, ret->constants + layout->constants_holder,
					     &ret->class);
	err = err ?: read_half(memory, ret->const_method + layout->const_name, &ret->name);
	err = err
		      ?: read_half(memory, ret->const_method + layout->const_code_bytes,
				   &ret->code_bytes);
	err = err ?: read_half(memory, ret->const_method + layout->const_flags, &flags);
	ret->flags = err ? 0 : flags;
	return err
		       ?: process_memory_read(memory, ret->const_method + layout->const_words,
					      &ret->words, sizeof(ret->words));
}

/*
 * The path of the source file: in the folders of the package, where compilers expect it. Methods
 * that the virtual machine itself makes have constants of their own, without the file.
 */
static int read_file(const struct process_memory *memory, const struct hotspot_layout *layout,
		     const struct method *method, const char *class_name, char **ret)
{
	const char *slash = strrchr(class_name, '/');
	int folder_bytes = slash ? (int)(slash + 1 - class_name) : 0;
	AUTO_FREE char *source = NULL;
	uint64_t constants;
	uint16_t index = 0;
	int err = process_memory_word(memory, method->class + layout->class_constants, &constants);

	if (!err && layout->constants_source)
		err = read_half(memory, constants + layout->constants_source, &index);
	else if (!err && layout->class_source)
		err = read_half(memory, method->class + layout->class_source, &index);
	if (!err && index)
		err = read_constant(memory, layout, constants, index, &source);
	if (err)
		return err;
	if (source && strchr(source, '/'))
		folder_bytes = 0;
	if (asprintf(ret, "%.*s%s", source ? folder_bytes : 0, class_name, source ?: "") < 0) {
		*ret = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* The table of lines is behind the code, and ends with the ConstMethod, at the latest. */
static int read_lines(const struct process_memory *memory, const struct hotspot_layout *layout,
		      const struct method *method, struct runtime_function *ret)
{
	uint64_t head = (uint64_t)layout->const_size + method->code_bytes;
	uint64_t bytes = method->words * 8ull;
	AUTO_FREE uint8_t *table = NULL;
	int err;

	ret->code = method->const_method + layout->const_size;
	if (!(method->flags & layout->line_flag) || bytes <= head)
		return 0;
	bytes -= head;
	if (bytes > LINE_TABLE_BYTES_MAX)
		bytes = LINE_TABLE_BYTES_MAX;
	table = malloc(bytes);
	if (!table)
		return -ENOMEM;
	err = process_memory_read(memory, method->const_method + head, table, bytes);
	err = err ?: hotspot_lines_decode(table, bytes, layout->has_zero_free_numbers, ret);
	if (err || !ret->lines.size)
		return err;
	/* A position behind the code has no line. */
	while (ret->lines.size &&
	       ret->lines.data[ret->lines.size - 1].position >= method->code_bytes)
		ret->lines.size--;
	return vec_push(&ret->lines, ((struct runtime_line){method->code_bytes, 0}));
}

static void dots(char *name)
{
	char *hidden = strrchr(name, '+');

	for (char *at = name; *at; at++)
		*at = *at == '/' ? '.' : *at;
	/* "pkg/Class+0x12" */
	if (hidden && !strncmp(hidden, "+0x", 3))
		*hidden = '/';
}

/* Methods by which method handles call their targets: the tool interface has one ID for all. */
static bool is_linker(const char *class_name, const char *name)
{
	return !strcmp(class_name, "java/lang/invoke/MethodHandle") &&
	       (!strncmp(name, "linkTo", strlen("linkTo")) || !strcmp(name, "invokeBasic"));
}

static int read_names(const struct process_memory *memory, const struct hotspot_layout *layout,
		      uint64_t address, struct runtime_function *ret)
{
	AUTO_FREE char *class_name = NULL, *name = NULL;
	struct method method;
	int err = read_parts(memory, layout, address, &method);
	bool linker;

	err = err ?: read_class_name(memory, layout, method.class, &class_name);
	err = err ?: read_constant(memory, layout, method.constants, method.name, &name);
	err = err ?: read_file(memory, layout, &method, class_name, &ret->file);
	err = err ?: read_lines(memory, layout, &method, ret);
	if (err)
		return err;
	linker = is_linker(class_name, name);
	dots(class_name);
	if (asprintf(&ret->name, "%s.%s", class_name, linker ? "linker" : name) < 0) {
		ret->name = NULL;
		return -ENOMEM;
	}
	if (strlen(ret->name) > RUNTIME_NAME_MAX)
		ret->name[RUNTIME_NAME_MAX] = 0;
	utf8_mend(ret->name, false);
	return 0;
}

int hotspot_method_describe(const struct process_memory *memory,
			    const struct hotspot_layout *layout, uint64_t method,
			    struct runtime_function *ret)
{
	CLEANUP(runtime_function_deinit) struct runtime_function made = {0};
	int err = read_names(memory, layout, method, &made);

	if (err)
		return err;
	*ret = made;
	made = (struct runtime_function){0};
	return 0;
}

int hotspot_method_read(const struct process_memory *memory, const struct hotspot_layout *layout,
			const struct runtime_check *check, uint64_t method,
			struct runtime_function *ret)
{
	CLEANUP(runtime_function_deinit) struct runtime_function made = {0};
	uint64_t again;
	int err = runtime_check_read(memory, check, method, false, &made.check);

	err = err ?: read_names(memory, layout, method, &made);
	process_memory_refresh(memory);
	err = err ?: runtime_check_read(memory, check, method, false, &again);
	if (err)
		return err;
	if (again != made.check)
		return -EAGAIN;
	*ret = made;
	made = (struct runtime_function){0};
	return 0;
}

static int check_method(const struct process_memory *memory, const struct hotspot_layout *layout,
			uint64_t address, uint64_t class)
{
	AUTO_FREE char *name = NULL;
	struct method method;
	int err = read_parts(memory, layout, address, &method);

	if (err)
		return err;
	if (method.class != class)
		return -EBADMSG;
	err = read_constant(memory, layout, method.constants, method.name, &name);
	return err ?: !strcmp(name, "hashCode");
}

int hotspot_layout_check(const struct process_memory *memory, const struct hotspot_layout *layout,
			 uint64_t object_class)
{
	uint64_t class, methods, method;
	AUTO_FREE char *name = NULL;
	uint32_t count = 0;
	int err = process_memory_word(memory, object_class, &class);

	if (!err && !class)
		return -ENODATA;
	err = err ?: read_class_name(memory, layout, class, &name);
	if (!err && strcmp(name, "java/lang/Object") != 0)
		return -EBADMSG;
	err = err ?: process_memory_word(memory, class + layout->class_methods, &methods);
	if (!err && !methods)
		return -ENODATA;
	err = err
		      ?: process_memory_read(memory, methods + layout->array_length, &count,
					     sizeof(count));
	if (!err && (!count || count > OBJECT_METHODS_MAX))
		return -EBADMSG;
	for (uint32_t i = 0; i < count && !err; i++) {
		err = process_memory_word(memory, methods + layout->array_methods + i * 8ull,
					  &method);
		err = err ?: check_method(memory, layout, method, class);
		if (err == 1)
			return 0;
	}
	return err ?: -EBADMSG;
}
