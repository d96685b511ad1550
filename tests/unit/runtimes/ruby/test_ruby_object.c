/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Objects of CRuby, made by hand. */
#include "runtimes/ruby/ruby_object.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "tests/unit/cases.h"

#define BASE 0x1000

static uint64_t words[512];
static size_t reads;

static int read_words(void *context, uint64_t address, void *buf, size_t size_bytes)
{
	(void)context;
	reads++;
	if (address < BASE || address - BASE > sizeof(words) ||
	    size_bytes > sizeof(words) - (address - BASE))
		return -EFAULT;
	memcpy(buf, (uint8_t *)words + (address - BASE), size_bytes);
	return 0;
}

static const struct process_memory memory = {.read = read_words};

static uint64_t at(size_t word)
{
	return BASE + 8 * word;
}

/* Returns a process of a version, whose memory is empty. */
static struct ruby_memory ruby_of(uint16_t minor)
{
	const struct engine_version version = {.part = {3, minor}, .parts = 2};

	memset(words, 0, sizeof(words));
	reads = 0;
	return (struct ruby_memory){.memory = &memory, .layout = ruby_layout_of(&version)};
}

/* A string that is not in the object. */
static void put_string(size_t word, size_t bytes_at, const char *text)
{
	words[word] = RUBY_TYPE_STRING | RUBY_STRING_NOEMBED;
	words[word + 2] = strlen(text);
	words[word + 3] = at(bytes_at);
	memcpy(&words[bytes_at], text, strlen(text));
}

static void check_string(const struct ruby_memory *ruby, size_t bytes_max, const char *wanted)
{
	AUTO_FREE char *text = NULL;

	assert_int_equal(ruby_string_read(ruby, at(8), bytes_max, &text), 0);
	assert_string_equal(text, wanted);
}

static int string_error(const struct ruby_memory *ruby, uint64_t address)
{
	AUTO_FREE char *text = NULL;

	return ruby_string_read(ruby, address, 64, &text);
}

CASE(versions)
{
	static const struct engine_version other[] = {
		{{3, 2}, 2}, {{3, 4}, 2}, {{2, 7}, 2}, {{3}, 1}, {{0}, 0}};

	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		assert_null(ruby_layout_of(&other[i]));
	assert_non_null(ruby_of(1).layout);
	assert_non_null(ruby_of(3).layout);
}

CASE(strings)
{
	struct ruby_memory ruby = ruby_of(1);

	/* In the object; its length is in the flags until 3.1. */
	words[8] = RUBY_TYPE_STRING | 3u << 14;
	memcpy(&words[10], "abcdef", 6);
	check_string(&ruby, 64, "abc");
	check_string(&ruby, 2, "ab");
	ruby = ruby_of(3);
	words[8] = RUBY_TYPE_STRING;
	words[10] = 4;
	memcpy(&words[11], "abcdef", 6);
	check_string(&ruby, 64, "abcd");
	put_string(8, 20, "a longer text, that is elsewhere");
	check_string(&ruby, 64, "a longer text, that is elsewhere");
	put_string(8, 20, "");
	check_string(&ruby, 64, "");
}

CASE(texts_are_utf8)
{
	struct ruby_memory ruby = ruby_of(3);

	put_string(8, 20,
		   "gr\xc3\xb6\xc3\x9f"
		   "e");
	check_string(&ruby, 64,
		     "gr\xc3\xb6\xc3\x9f"
		     "e");
	/* A limit amid a character. */
	check_string(&ruby, 5, "gr\xc3\xb6");
	put_string(8, 20,
		   "a\xff"
		   "b\xc3");
	check_string(&ruby, 64, "a?b?");
	memset(&words[20], 0, 16);
	put_string(8, 20, "ab");
	words[10] = 5;
	check_string(&ruby, 64, "ab");
}

CASE(hostile_strings)
{
	struct ruby_memory ruby = ruby_of(3);

	put_string(8, 20, "text");
	assert_int_equal(string_error(&ruby, at(8) + 1), -EBADMSG);
	assert_int_equal(string_error(&ruby, 0), -EBADMSG);
	assert_int_equal(string_error(&ruby, 8), -EBADMSG); /* nil */
	assert_int_equal(string_error(&ruby, UINT64_MAX - 7), -EFAULT);
	words[10] = UINT64_MAX;
	assert_int_equal(string_error(&ruby, at(8)), -EBADMSG);
	words[10] = 4;
	words[11] = UINT64_MAX;
	assert_int_equal(string_error(&ruby, at(8)), -EFAULT);
	words[8] = RUBY_TYPE_ARRAY;
	assert_int_equal(string_error(&ruby, at(8)), -EBADMSG);
	words[8] = RUBY_TYPE_STRING;
	words[10] = 1 << 21;
	assert_int_equal(string_error(&ruby, at(8)), -EBADMSG);
}

CASE(arrays)
{
	struct ruby_memory ruby = ruby_of(1);
	uint64_t word;

	words[8] = RUBY_TYPE_ARRAY;
	words[10] = 3;
	words[12] = at(20);
	words[22] = 0x77;
	assert_int_equal(ruby_array_at(&ruby, at(8), 2, &word), 0);
	assert_int_equal(word, 0x77);
	assert_int_equal(ruby_array_at(&ruby, at(8), 3, &word), -EBADMSG);
	words[10] = UINT64_MAX;
	assert_int_equal(ruby_array_at(&ruby, at(8), 1ull << 60, &word), -EFAULT);
	words[8] |= RUBY_ARRAY_EMBED;
	words[11] = 0x88;
	assert_int_equal(ruby_array_at(&ruby, at(8), 1, &word), 0);
	assert_int_equal(word, 0x88);
	words[8] = RUBY_TYPE_STRING;
	assert_int_equal(ruby_array_at(&ruby, at(8), 0, &word), -EBADMSG);
	assert_int_equal(ruby_array_at(&ruby, 5, 0, &word), -EBADMSG);
}

/* The table of symbols: the second array has the symbol 600, "name" */
CASE(symbols)
{
	struct ruby_memory ruby = ruby_of(3);
	AUTO_FREE char *name = NULL, *none = NULL;

	ruby.symbols = at(0);
	words[2] = at(8);
	words[8] = RUBY_TYPE_ARRAY;
	words[10] = 2;
	words[12] = at(20);
	words[21] = at(30);
	words[30] = RUBY_TYPE_ARRAY;
	words[32] = 1024;
	words[34] = at(100);
	words[100 + 2 * (600 - 512)] = at(400);
	put_string(400, 410, "name");
	assert_int_equal(ruby_symbol_read(&ruby, 600 << 4 | 8, 64, &name), 0);
	assert_string_equal(name, "name");
	assert_int_equal(ruby_symbol_read(&ruby, 601 << 4, 64, &none), -EBADMSG);
	assert_int_equal(ruby_symbol_read(&ruby, 2000 << 4, 64, &none), -EBADMSG);
	assert_int_equal(ruby_symbol_read(&ruby, UINT64_MAX, 64, &none), -EBADMSG);
	/* The first array is none. */
	assert_int_equal(ruby_symbol_read(&ruby, '+', 64, &none), -EBADMSG);
}

static void check_method(const struct ruby_memory *ruby, uint64_t class, const char *wanted)
{
	AUTO_FREE char *name = NULL;

	assert_int_equal(ruby_method_name(ruby, class, "call", &name), 0);
	assert_string_equal(name, wanted);
}

static int method_error(const struct ruby_memory *ruby, uint64_t class)
{
	AUTO_FREE char *name = NULL;

	return ruby_method_name(ruby, class, "call", &name);
}

CASE(methods_of_classes_whose_path_is_a_member)
{
	struct ruby_memory ruby = ruby_of(3);
	uint64_t *class = words + 8, *singleton = words + 40;
	size_t path = (size_t)ruby.layout->class_path / 8;
	size_t attached = (size_t)ruby.layout->class_attached / 8;

	class[0] = RUBY_TYPE_CLASS;
	class[path] = at(100);
	put_string(100, 110, "Outer::Inner");
	check_method(&ruby, at(8), "Outer::Inner#call");
	class[0] = RUBY_TYPE_MODULE;
	check_method(&ruby, at(8), "Outer::Inner#call");
	/* Its own method: the class of a class is its singleton class. */
	singleton[0] = RUBY_TYPE_CLASS | ruby.layout->singleton;
	singleton[attached] = at(8);
	class[1] = at(40);
	check_method(&ruby, at(40), "Outer::Inner.call");
	/* That of an object, or of a class that says it has another one. */
	class[1] = at(41);
	check_method(&ruby, at(40), "call");
	singleton[attached] = 0x10;
	check_method(&ruby, at(40), "call");
	/* No name, no class. */
	class[path] = 8;
	check_method(&ruby, at(8), "call");
	class[path] = at(8);
	assert_int_equal(method_error(&ruby, at(8)), -EBADMSG);
	class[0] = RUBY_TYPE_STRING;
	assert_int_equal(method_error(&ruby, at(8)), -EBADMSG);
	assert_int_equal(method_error(&ruby, 9), -EBADMSG);
	/* A singleton class that is its own class, and belongs to itself. */
	singleton[1] = singleton[attached] = at(40);
	check_method(&ruby, at(40), "call");
}

/* Put a class with variables: its extension, the table and the entries. */
static void put_class(size_t word, uint64_t flags, uint64_t first, uint64_t end)
{
	words[word] = flags;
	words[word + 3] = at(word + 4);
	words[word + 5] = at(word + 8);
	words[word + 12] = first;
	words[word + 13] = end;
	words[word + 14] = at(word + 16);
}

static void put_variable(size_t word, size_t i, uint64_t key, uint64_t value)
{
	words[word + 16 + i * 3 + 1] = key;
	words[word + 16 + i * 3 + 2] = value;
}

CASE(methods_of_classes_whose_path_is_a_variable)
{
	struct ruby_memory ruby = ruby_of(1);
	uint64_t id;

	put_class(8, RUBY_TYPE_CLASS, 1, 4);
	put_variable(8, 0, 0x55, at(200)); /* before the start: deleted */
	put_variable(8, 1, 0x77, 3);
	put_variable(8, 2, 0x66, at(220));
	put_variable(8, 3, 0x55, at(210));
	put_string(200, 205, "Deleted");
	put_string(210, 215, "Array");
	put_string(220, 225, "a text");
	assert_int_equal(ruby_class_path_find(&ruby, at(8), "Array", &id), 0);
	assert_int_equal(id, 0x55);
	assert_int_equal(ruby_class_path_find(&ruby, at(8), "Hash", &id), -EBADMSG);
	ruby.class_path = 0x55;
	check_method(&ruby, at(8), "Array#call");
	put_class(100, RUBY_TYPE_CLASS | ruby.layout->singleton, 0, 2);
	put_variable(100, 0, 0x11, 0x1000000); /* elsewhere */
	put_variable(100, 1, 0x12, at(8));
	check_method(&ruby, at(100), "call");
	words[9] = at(100);
	check_method(&ruby, at(100), "Array.call");
	/* It has no variables, or none that is a path. */
	words[8 + 5] = 0;
	check_method(&ruby, at(8), "call");
	words[8 + 5] = at(16);
	ruby.class_path = 0x99;
	check_method(&ruby, at(8), "call");
}

CASE(hostile_tables_of_variables)
{
	struct ruby_memory ruby = ruby_of(1);

	ruby.class_path = 0x55;
	put_class(8, RUBY_TYPE_CLASS, 5, 4);
	assert_int_equal(method_error(&ruby, at(8)), -EBADMSG);
	put_class(8, RUBY_TYPE_CLASS, 0, 1ull << 40);
	assert_int_equal(method_error(&ruby, at(8)), -EBADMSG);
	/* More than are read, so the end of memory is in reach. */
	put_class(8, RUBY_TYPE_CLASS, 0, UINT32_MAX);
	assert_int_equal(method_error(&ruby, at(8)), -EFAULT);
	words[8 + 14] = UINT64_MAX - 4;
	assert_int_equal(method_error(&ruby, at(8)), -EFAULT);
	words[8 + 5] = 0x10;
	assert_int_equal(method_error(&ruby, at(8)), -EFAULT);
	words[8 + 3] = 0;
	assert_int_equal(method_error(&ruby, at(8)), -EFAULT);
	/* A singleton class with many variables, none of which it belongs to. */
	put_class(8, RUBY_TYPE_CLASS | ruby.layout->singleton, 0, 100);
	for (size_t i = 0; i < 100; i++)
		put_variable(8, i, i, at(8));
	reads = 0;
	check_method(&ruby, at(8), "call");
	assert_true(reads < 120);
}
