/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/ruby/ruby_object.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/utf8.h"
#include "runtimes/runtime_reader.h"

#define LENGTH_MAX     (1u << 20) /* longer names are no names */
#define VARIABLES_MAX  256	  /* of a class */
#define PATH_BYTES_MAX 256

/* RString, RArray: of those that are not in the object; and where their bytes are in it. */
#define HEAP_LENGTH	   2
#define HEAP_POINTER	   3
#define ARRAY_POINTER	   4
#define STRING_EMBED_SHIFT (RUBY_FLAG_SHIFT + 2)
#define STRING_EMBED_MAX   31u

/* rb_symbols_t: an array of arrays, each with two words for each of 512 symbols. */
#define SYMBOLS_ARRAYS	    16
#define SYMBOLS_IN_ARRAY    512
#define SYMBOL_OPERATOR_MAX 255 /* those that are operators are their own numbers */
#define SYMBOL_SHIFT	    4

/* RClass, rb_classext_t, st_table and st_table_entry, as far as the path is a variable. */
#define CLASS_EXTENSION	    24
#define EXTENSION_VARIABLES 8
#define TABLE_START	    32 /* then the end, and a pointer to the entries */
#define ENTRY_WORDS	    3
#define ENTRY_KEY	    1
#define ENTRY_VALUE	    2

/* Returns true if a word is a pointer to an object: others are numbers, nil, and so on. */
static bool is_pointer(uint64_t word)
{
	return word && word % 8 == 0 && word != 8;
}

static int read_words(const struct ruby_memory *ruby, uint64_t address, uint64_t *words,
		      size_t count)
{
	if (!is_pointer(address))
		return -EBADMSG;
	return process_memory_read(ruby->memory, address, words, count * sizeof(*words));
}

/* Set where the bytes of a string are. */
static int find_bytes(const struct ruby_memory *ruby, uint64_t address, uint64_t *ret_at,
		      uint64_t *ret_length)
{
	bool length_is_flag = ruby->layout->length_is_flag;
	uint64_t words[HEAP_POINTER + 1];
	int err = read_words(ruby, address, words, ARRAY_SIZE(words));

	if (err)
		return err;
	if ((words[0] & RUBY_TYPE_MASK) != RUBY_TYPE_STRING)
		return -EBADMSG;
	*ret_length = words[HEAP_LENGTH];
	if (words[0] & RUBY_STRING_NOEMBED) {
		*ret_at = words[HEAP_POINTER];
	} else if (length_is_flag) {
		*ret_length = words[0] >> STRING_EMBED_SHIFT & STRING_EMBED_MAX;
		*ret_at = address + HEAP_LENGTH * 8;
	} else {
		*ret_at = address + HEAP_POINTER * 8;
	}
	return *ret_length > LENGTH_MAX ? -EBADMSG : 0;
}

int ruby_string_read(const struct ruby_memory *ruby, uint64_t address, size_t bytes_max, char **ret)
{
	AUTO_FREE char *text = NULL;
	uint64_t at, length;
	size_t bytes;
	int err = find_bytes(ruby, address, &at, &length);

	if (err)
		return err;
	bytes = length < bytes_max ? length : bytes_max;
	text = calloc(1, bytes + 1);
	if (!text)
		return -ENOMEM;
	if (bytes)
		err = process_memory_read(ruby->memory, at, text, bytes);
	if (err)
		return err;
	utf8_mend(text, bytes < length);
	*ret = TAKE_PTR(text);
	return 0;
}

int ruby_array_at(const struct ruby_memory *ruby, uint64_t address, uint64_t index, uint64_t *ret)
{
	uint64_t words[ARRAY_POINTER + 1], at = address + RUBY_OBJECT_BYTES;
	int err = read_words(ruby, address, words, ARRAY_SIZE(words));

	if (err)
		return err;
	if ((words[0] & RUBY_TYPE_MASK) != RUBY_TYPE_ARRAY)
		return -EBADMSG;
	if (!(words[0] & RUBY_ARRAY_EMBED)) {
		if (index >= words[HEAP_LENGTH])
			return -EBADMSG;
		at = words[ARRAY_POINTER];
	}
	return process_memory_word(ruby->memory, at + index * 8, ret);
}

int ruby_symbol_read(const struct ruby_memory *ruby, uint64_t id, size_t bytes_max, char **ret)
{
	uint64_t number = id > SYMBOL_OPERATOR_MAX ? id >> SYMBOL_SHIFT : id;
	uint64_t arrays, array, string;
	int err = process_memory_word(ruby->memory, ruby->symbols + SYMBOLS_ARRAYS, &arrays);

	if (number > UINT32_MAX)
		return -EBADMSG;
	err = err ?: ruby_array_at(ruby, arrays, number / SYMBOLS_IN_ARRAY, &array);
	err = err ?: ruby_array_at(ruby, array, number % SYMBOLS_IN_ARRAY * 2, &string);
	return err ?: ruby_string_read(ruby, string, bytes_max, ret);
}

/* The variables of a class. */
struct variables {
	uint64_t words[VARIABLES_MAX * ENTRY_WORDS];
	size_t count;
};

static int read_variables(const struct ruby_memory *ruby, uint64_t class, struct variables *ret)
{
	uint64_t extension, table, where[3] = {0}; /* start, end, entries */
	int err = process_memory_word(ruby->memory, class + CLASS_EXTENSION, &extension);

	ret->count = 0;
	err = err ?: process_memory_word(ruby->memory, extension + EXTENSION_VARIABLES, &table);
	if (err || !table)
		return err;
	err = process_memory_read(ruby->memory, table + TABLE_START, where, sizeof(where));
	if (err)
		return err;
	if (where[0] > where[1] || where[1] > UINT32_MAX)
		return -EBADMSG;
	ret->count = where[1] - where[0];
	if (ret->count > VARIABLES_MAX)
		ret->count = VARIABLES_MAX;
	if (!ret->count)
		return 0;
	return process_memory_read(ruby->memory, where[2] + where[0] * ENTRY_WORDS * 8, ret->words,
				   ret->count * ENTRY_WORDS * 8);
}

/* Returns the value of a variable of a class, or 0. */
static uint64_t variable(const struct variables *variables, uint64_t id)
{
	for (size_t i = 0; i < variables->count; i++) {
		if (variables->words[i * ENTRY_WORDS + ENTRY_KEY] == id)
			return variables->words[i * ENTRY_WORDS + ENTRY_VALUE];
	}
	return 0;
}

int ruby_class_path_find(const struct ruby_memory *ruby, uint64_t class, const char *path,
			 uint64_t *ret)
{
	AUTO_FREE struct variables *variables = malloc(sizeof(*variables));
	int err = variables ? read_variables(ruby, class, variables) : -ENOMEM;

	for (size_t i = 0; !err && i < variables->count; i++) {
		const uint64_t *entry = variables->words + i * ENTRY_WORDS;
		AUTO_FREE char *text = NULL;

		err = ruby_string_read(ruby, entry[ENTRY_VALUE], PATH_BYTES_MAX, &text);
		if (!err && !strcmp(text, path)) {
			*ret = entry[ENTRY_KEY];
			return 0;
		}
		if (err == -EBADMSG || err == -EFAULT)
			err = 0;
	}
	return err ?: -EBADMSG;
}

static int read_path(const struct ruby_memory *ruby, uint64_t class, uint64_t *ret)
{
	AUTO_FREE struct variables *variables = NULL;
	int err;

	if (ruby->layout->class_path)
		return process_memory_word(ruby->memory, class + (uint64_t)ruby->layout->class_path,
					   ret);
	variables = malloc(sizeof(*variables));
	err = variables ? read_variables(ruby, class, variables) : -ENOMEM;
	if (!err)
		*ret = variable(variables, ruby->class_path);
	return err;
}

static bool is_class(uint64_t flags)
{
	return (flags & RUBY_TYPE_MASK) == RUBY_TYPE_CLASS ||
	       (flags & RUBY_TYPE_MASK) == RUBY_TYPE_MODULE;
}

int ruby_class_name(const struct ruby_memory *ruby, uint64_t class, char **ret)
{
	uint64_t words[1], path = 0;
	int err = read_words(ruby, class, words, ARRAY_SIZE(words));

	if (!err && !is_class(words[0]))
		err = -EBADMSG;
	err = err ?: read_path(ruby, class, &path);
	if (err)
		return err;
	if (is_pointer(path))
		return ruby_string_read(ruby, path, RUNTIME_NAME_MAX, ret);
	*ret = strdup("");
	return *ret ? 0 : -ENOMEM;
}

/* Returns true if a word is a class whose own class is `singleton`. */
static bool is_attached(const struct ruby_memory *ruby, uint64_t word, uint64_t singleton)
{
	uint64_t words[2];

	return !read_words(ruby, word, words, ARRAY_SIZE(words)) && is_class(words[0]) &&
	       words[RUBY_OBJECT_CLASS / 8] == singleton;
}

/* Set *ret to the class that a singleton class belongs to; 0: it is another object's. */
static int find_attached(const struct ruby_memory *ruby, uint64_t singleton, uint64_t *ret)
{
	AUTO_FREE struct variables *variables = NULL;
	int err;

	*ret = 0;
	if (ruby->layout->class_attached) {
		uint64_t word;

		err = process_memory_word(
			ruby->memory, singleton + (uint64_t)ruby->layout->class_attached, &word);
		if (!err && is_attached(ruby, word, singleton))
			*ret = word;
		return err;
	}
	variables = malloc(sizeof(*variables));
	err = variables ? read_variables(ruby, singleton, variables) : -ENOMEM;
	for (size_t i = 0; !err && i < variables->count && !*ret; i++) {
		uint64_t word = variables->words[i * ENTRY_WORDS + ENTRY_VALUE];

		if (is_attached(ruby, word, singleton))
			*ret = word;
	}
	return err;
}

int ruby_method_name(const struct ruby_memory *ruby, uint64_t class, const char *method, char **ret)
{
	AUTO_FREE char *name = NULL;
	uint64_t words[1], named = class;
	const char *between = "#";
	int err = read_words(ruby, class, words, ARRAY_SIZE(words));

	if (err)
		return err;
	if (words[0] & ruby->layout->singleton) {
		between = ".";
		err = find_attached(ruby, class, &named);
	}
	if (!err && named)
		err = ruby_class_name(ruby, named, &name);
	if (err)
		return err;
	if (!name || !*name)
		between = "";
	return asprintf(ret, "%s%s%s", name ?: "", between, method) < 0 ? -ENOMEM : 0;
}
