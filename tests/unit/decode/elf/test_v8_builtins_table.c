/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of V8's builtins: its forms, where its code is, and what is none. */
#include <stdint.h>

#include <errno.h>

#include "base/scope.h"
#include "decode/elf/v8_builtins_table.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/v8_image.h"

#define TEXT_END (IMAGE_TEXT_ADDRESS + V8_TEXT_BYTES)
#define ENTRY	 12

static struct elf_image image;
static v8_builtin_codes codes;

static int find(uint64_t low, uint64_t high)
{
	struct blob blob = image_blob(&image);
	struct elf_file elf = {0};
	int err;

	codes.size = 0;
	assert_int_equal(elf_file_init(&elf, &blob), 0);
	err = v8_builtins_table_find(&elf, low, high, &codes);
	elf_file_deinit(&elf);
	return err;
}

static int find_in_text(void)
{
	return find(IMAGE_TEXT_ADDRESS, TEXT_END);
}

static int setup(void **state)
{
	v8_image_init(&image, ENTRY);
	return 0;
}

static int teardown(void **state)
{
	vec_deinit(&codes);
	codes = (v8_builtin_codes){0};
	return 0;
}

CASE_WITH(test_forms, NULL, teardown)
{
	static const size_t forms[] = {8, 12, 16, 32};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		v8_image_init(&image, forms[i]);
		v8_image_code(&image, forms[i], 2, "\x90\x90\xc3", 3);
		assert_int_equal(find_in_text(), 0);
		assert_int_equal(codes.size, V8_IMAGE_BUILTINS);
		assert_int_equal(codes.data[0].start, V8_CODE);
		assert_int_equal(codes.data[2].start, V8_CODE + 2 * V8_SLOT_BYTES);
		assert_int_equal(codes.data[2].size_bytes, 3);
	}
}

/* The search goes on behind what only looks like a table, and tables can be in front of code. */
CASE_WITH(test_places, setup, teardown)
{
	for (uint32_t i = 0; i < 10; i++)
		memcpy(image.bytes + V8_DATA + 8 * i, (uint32_t[]){V8_SLOT_BYTES * i, 1}, 8);
	image_segment(&image, 1)->p_flags = PF_R | PF_X;
	assert_int_equal(find_in_text(), 0);
	assert_int_equal(codes.size, V8_IMAGE_BUILTINS);
	assert_int_equal(find(V8_CODE, V8_CODE + V8_CODE_BYTES), 0);
	assert_int_equal(find(V8_CODE + 1, TEXT_END), -ENOENT);
	assert_int_equal(find(IMAGE_TEXT_ADDRESS, V8_CODE + V8_CODE_BYTES - V8_SLOT_BYTES),
			 -ENOENT);
	assert_int_equal(find(0x1000, 0x2000), -ENOENT);
}

CASE_WITH(test_no_table, setup, teardown)
{
	/* One builtin less than a table has. */
	v8_image_entry(&image, ENTRY, V8_IMAGE_BUILTINS - 1, UINT32_MAX, 1);
	assert_int_equal(find_in_text(), -ENOENT);
	/* Code that reaches into the next one, or is empty. */
	v8_image_init(&image, ENTRY);
	v8_image_entry(&image, ENTRY, 5, 5 * V8_SLOT_BYTES, V8_SLOT_BYTES);
	assert_int_equal(find_in_text(), -ENOENT);
	v8_image_entry(&image, ENTRY, 5, 5 * V8_SLOT_BYTES, 0);
	assert_int_equal(find_in_text(), -ENOENT);
	/* A byte between builtins that is no padding. */
	v8_image_init(&image, ENTRY);
	image.bytes[IMAGE_TEXT + V8_CODE_AT + 20 * V8_SLOT_BYTES - 1] = 0x90;
	assert_int_equal(find_in_text(), -ENOENT);
	/* A table that the end of the file cuts. */
	v8_image_init(&image, ENTRY);
	image_segment(&image, 1)->p_filesz = V8_TABLE_AT + 40 * ENTRY;
	assert_int_equal(find_in_text(), -ENOENT);
}

/* A table whose code is nowhere, and another one. */
CASE_WITH(test_no_code, setup, teardown)
{
	memmove(image.bytes + V8_DATA + V8_DATA_BYTES / 2, image.bytes + V8_DATA,
		V8_DATA_BYTES / 2);
	v8_image_entry(&image, ENTRY, 9, 9 * V8_SLOT_BYTES, 1);
	assert_int_equal(find_in_text(), 0);
	assert_int_equal(codes.data[9].size_bytes, 2);
	memset(image.bytes + IMAGE_TEXT, 0x90, V8_TEXT_BYTES);
	assert_int_equal(find_in_text(), -ENOENT);
}
