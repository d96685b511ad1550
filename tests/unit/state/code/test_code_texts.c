/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "state/code/code_texts.h"
#include "tests/unit/cases.h"

#define MANY 100000

struct texts {
	struct code_string all[CODE_TEXTS];
};

static struct texts texts(const char *class_name, const char *source, const char *module)
{
	return (struct texts){{{class_name, strlen(class_name)},
			       {source, strlen(source)},
			       {module, strlen(module)}}};
}

static const char *get(struct code_text_set *set, struct texts texts, bool is_new)
{
	uint64_t bytes, needed = code_texts_needed(set, texts.all, &bytes);
	const char *got;

	assert_int_equal(needed > 0, is_new);
	assert_int_equal(bytes > 0, is_new);
	assert_true(needed >= bytes);
	assert_int_equal(code_texts_get(set, texts.all, &got), 0);
	return got;
}

CASE(test_equal_texts_are_one)
{
	struct code_text_set set = {0};
	const char *first = get(&set, texts("App", "App.java", ""), true);
	const char *again = get(&set, texts("App", "App.java", ""), false);
	const char *other = get(&set, texts("App", "", "App.java"), true);
	uint64_t bytes, needed;

	assert_memory_equal(first, "App\0App.java\0", sizeof("App\0App.java\0"));
	assert_ptr_equal(first, again);
	assert_ptr_not_equal(first, other);
	assert_memory_equal(other, "App\0\0App.java", sizeof("App\0\0App.java"));
	assert_int_equal(code_texts_put(&set, first, &bytes), 0);
	assert_int_equal(bytes, 0);
	needed = code_texts_put(&set, again, &bytes);
	assert_int_equal(bytes, sizeof("App\0App.java\0"));
	assert_true(needed > bytes);
	first = get(&set, texts("App", "App.java", ""), true);
	code_texts_put(&set, first, &bytes);
	code_texts_put(&set, other, &bytes);
	assert_int_equal(set.size, 0);
	code_text_set_deinit(&set);
}

/* A text ends at its first NUL. */
CASE(test_empty_texts_take_nothing)
{
	struct code_text_set set = {0};
	const struct texts none = {{{"\0x", 2}, {NULL, 0}, {"", 0}}};
	const char *got = get(&set, none, false);
	uint64_t bytes;

	assert_memory_equal(got, CODE_NO_TEXTS, CODE_TEXTS);
	assert_int_equal(code_texts_put(&set, got, &bytes), 0);
	assert_null(set.slots);
	code_text_set_deinit(&set);
}

CASE(test_many)
{
	const char **got = calloc(MANY, sizeof(*got));
	struct code_text_set set = {0};
	uint64_t bytes;
	char name[32];

	assert_non_null(got);
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "Class%u", i);
		got[i] = get(&set, texts(name, "", ""), true);
	}
	for (uint32_t i = 0; i < MANY; i += 2)
		assert_true(code_texts_put(&set, got[i], &bytes) > 0);
	for (uint32_t i = 1; i < MANY; i += 2) {
		snprintf(name, sizeof(name), "Class%u", i);
		assert_string_equal(got[i], name);
		assert_true(code_texts_put(&set, got[i], &bytes) > 0);
	}
	assert_int_equal(set.size, 0);
	code_text_set_deinit(&set);
	free(got);
}

/*
 * This word makes the hash of what is before it 0, so all of these have the same hash. Each costs
 * no more than others, or this case takes minutes; those that are not found again are correct.
 */
CASE(test_equal_hashes)
{
	const char **got = calloc(MANY, sizeof(*got));
	struct code_text_set set = {0};
	uint64_t bytes;
	char name[32];

	assert_non_null(got);
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "%08u\xdb\x28\xb4\xa0\xd1\x7e\x03\xe7", i);
		got[i] = get(&set, texts(name, "", ""), true);
	}
	assert_true(set.size < 64);
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "%08u\xdb\x28\xb4\xa0\xd1\x7e\x03\xe7", i);
		assert_string_equal(got[i], name);
		assert_true(code_texts_put(&set, got[i], &bytes) > 0);
	}
	assert_int_equal(set.size, 0);
	code_text_set_deinit(&set);
	free(got);
}
