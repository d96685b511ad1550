/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/symbol_names.h"

#define PADDING_BYTES 100 /* bytes before the strings in the file */
#define LONG_BYTES    (SYMBOL_NAMES_HELD_BYTES + 5000)

/* A file that contains only strings, as a symbol table's reader sees them. */
struct file {
	char *bytes;
	size_t size_bytes;
	struct blob blob;
	unsigned reads, closed;
	int error;
	struct symbol_names names;
};

static int read_counted(void *file_, uint64_t offset, void *buf, size_t size_bytes)
{
	struct file *file = file_;

	file->reads++;
	if (!file->error)
		memcpy(buf, file->bytes + offset, size_bytes);
	return file->error;
}

static void count_close(void *file)
{
	((struct file *)file)->closed++;
}

static int setup(void **state)
{
	struct file *file = calloc(1, sizeof(*file));

	file->size_bytes = PADDING_BYTES + LONG_BYTES;
	file->bytes = malloc(file->size_bytes);
	memset(file->bytes, 'x', file->size_bytes);
	file->blob = (struct blob){file->size_bytes, read_counted, count_close, file};
	*state = file;
	return 0;
}

static int teardown(void **state)
{
	struct file *file = *state;

	symbol_names_deinit(&file->names);
	blob_close(&file->blob);
	assert_int_equal(file->closed, 1);
	free(file->bytes);
	free(file);
	return 0;
}

/* Add the first size_bytes of the file's strings. Returns the number of the first name. */
static uint32_t add(struct file *file, size_t size_bytes)
{
	struct elf_symbols symbols = {
		.strings = calloc(1, size_bytes + 1),
		.strings_bytes = size_bytes,
		.strings_offset = PADDING_BYTES,
	};
	uint32_t base = 1;

	memcpy(symbols.strings, file->bytes + PADDING_BYTES, size_bytes);
	for (char *at = symbols.strings;
	     (at = memchr(at, '@', size_bytes - (size_t)(at - symbols.strings)));)
		*at = '\0';
	assert_int_equal(symbol_names_add(&file->names, &symbols, &base), 0);
	assert_null(symbols.strings);
	return base;
}

static void put(struct file *file, size_t offset, const char *text)
{
	memcpy(file->bytes + PADDING_BYTES + offset, text, strlen(text) + 1);
}

static void assert_same_when_released(struct file *file, uint32_t number)
{
	char *held = strdup(symbol_names_get(&file->names, number));

	assert_false(symbol_names_open(&file->names));
	assert_int_equal(symbol_names_release(&file->names, 0, &file->blob), 0);
	assert_true(symbol_names_open(&file->names));
	assert_string_equal(symbol_names_get(&file->names, number), held);
	assert_int_not_equal(file->reads, 0);
	free(held);
}

static void names_are_the_same_read_from_the_file(void **state)
{
	struct file *file = *state;

	put(file, 50, "memcpy");
	assert_int_equal(add(file, LONG_BYTES), 0);
	assert_same_when_released(file, 50);
	assert_string_equal(symbol_names_get(&file->names, 53), "cpy");
	assert_in_range(symbol_names_bytes(&file->names), 1, 4096);
}

static void versions_are_cut(void **state)
{
	struct file *file = *state;

	put(file, 50, "memcpy@@GLIBC_2.14");
	add(file, LONG_BYTES);
	assert_same_when_released(file, 50);
	assert_string_equal(symbol_names_get(&file->names, 50), "memcpy");
}

/* The last name ends with the section, with or without a NUL. */
static void long_names_end_where_they_do(void **state)
{
	struct file *file = *state;

	put(file, 3000, "");
	add(file, LONG_BYTES);
	assert_same_when_released(file, 1);
	assert_int_equal(strlen(symbol_names_get(&file->names, 1)), 2999);
	assert_int_equal(strlen(symbol_names_get(&file->names, LONG_BYTES - 10)), 10);
	assert_int_equal(strlen(symbol_names_get(&file->names, 3001)), LONG_BYTES - 3001);
}

static void short_tables_stay(void **state)
{
	struct file *file = *state;

	put(file, 50, "f");
	add(file, 1000);
	assert_int_equal(symbol_names_release(&file->names, 0, &file->blob), 0);
	assert_false(symbol_names_open(&file->names));
	assert_string_equal(symbol_names_get(&file->names, 50), "f");
	assert_int_equal(file->reads, 0);
}

static void numbers_go_on_in_the_second_table(void **state)
{
	struct elf_symbols none = {.strings = NULL};
	struct file *file = *state;
	uint32_t base;

	put(file, 50, "f");
	assert_int_equal(add(file, 1000), 0);
	base = add(file, LONG_BYTES);
	assert_int_equal(base, 1000);
	assert_int_equal(symbol_names_release(&file->names, 1, &file->blob), 0);
	assert_string_equal(symbol_names_get(&file->names, 50), "f");
	assert_int_equal(file->reads, 0);
	assert_string_equal(symbol_names_get(&file->names, base + 50), "f");
	assert_int_equal(file->reads, 1);
	assert_null(symbol_names_get(&file->names, base + LONG_BYTES));
	assert_int_equal(symbol_names_add(&file->names, &none, &base), -E2BIG);
}

static void a_file_that_is_gone_has_no_names(void **state)
{
	struct file *file = *state;

	put(file, 50, "f");
	add(file, LONG_BYTES);
	assert_same_when_released(file, 50);
	file->error = -EIO;
	assert_null(symbol_names_get(&file->names, 50));
	file->error = 0;
	assert_string_equal(symbol_names_get(&file->names, 50), "f");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(names_are_the_same_read_from_the_file), TEST(versions_are_cut),
		TEST(long_names_end_where_they_do),	     TEST(short_tables_stay),
		TEST(numbers_go_on_in_the_second_table),     TEST(a_file_that_is_gone_has_no_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
