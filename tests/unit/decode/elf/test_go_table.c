/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <stdio.h>

#include "base/shared_blob.h"
#include "decode/elf/go_inlines.h"
#include "symbolize/symbol_file.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/made_go.h"

static struct elf_image image;
static struct blob blob;
static struct elf_file elf;
static struct go_table *table;

static int open_table(void)
{
	int err;

	go_table_destroy(table);
	table = NULL;
	elf_file_deinit(&elf);
	blob_close(&blob);
	blob = image_blob(&image);
	err = elf_file_init(&elf, &blob);
	return err ?: go_table_create(&elf, &blob, &table);
}

static int teardown(void **state)
{
	go_table_destroy(table);
	table = NULL;
	elf_file_deinit(&elf);
	elf = (struct elf_file){0};
	blob_close(&blob);
	return 0;
}

/* The frames at an offset: "NAME FILE:LINE", innermost first. */
static const char *frames_at(uint64_t offset)
{
	static char text[512];
	struct go_frame frames[GO_FRAMES_MAX];
	uint32_t count;
	size_t at = 0;

	assert_int_equal(go_inlines_find(table, GO_TEXT + offset, frames, &count), 0);
	text[0] = '\0';
	for (uint32_t i = 0; i < count; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %s:%u", i ? ", " : "",
				       frames[i].name, frames[i].file ?: "?", frames[i].line);
	return text;
}

static void check_frames(void)
{
	assert_string_equal(frames_at(0), "main.outer outer.go:10");
	assert_string_equal(frames_at(0x10), "main.middle inner.go:20, main.outer outer.go:10");
	assert_string_equal(frames_at(0x17), "main.inner inner.go:30, main.middle inner.go:20, "
					     "main.outer outer.go:10");
	assert_string_equal(frames_at(0x1f), "main.middle inner.go:21, main.outer outer.go:10");
	assert_string_equal(frames_at(0x3f), "main.outer outer.go:11");
	assert_string_equal(frames_at(0x40), "main.leaf ?:0");
	assert_string_equal(frames_at(0x60), "");
	assert_string_equal(frames_at(UINT64_MAX), "");
}

CASE_WITH(test_versions, NULL, teardown)
{
	for (int i = 0; i < 4; i++) {
		go_image_init(&image, i & 1, i & 2);
		assert_int_equal(open_table(), 0);
		assert_int_equal(go_table_count(table), GO_FUNCTION_COUNT);
		check_frames();
	}
}

CASE_WITH(test_functions, NULL, teardown)
{
	uint64_t start, end;

	go_image_init(&image, false, false);
	assert_int_equal(open_table(), 0);
	assert_true(go_table_range(table, GO_TEXT + 0x4f, &start, &end));
	assert_int_equal(start, GO_TEXT + 0x40);
	assert_int_equal(end, GO_TEXT + 0x50);
	assert_false(go_table_range(table, GO_TEXT - 1, &start, &end));
	assert_false(go_table_range(table, GO_TEXT + 0x60, &start, &end));
	assert_string_equal(go_table_name(table, GO_TEXT + 0x4f), "main.leaf");
	assert_null(go_table_name(table, GO_TEXT + 0x60));
}

static int put_range(void *text, const struct go_stack_range *range)
{
	sprintf((char *)text + strlen(text), "%x-%x:%d ", (unsigned)(range->start - GO_TEXT),
		(unsigned)(range->end - GO_TEXT), range->frame_bytes);
	return 0;
}

CASE_WITH(test_stack, NULL, teardown)
{
	char text[128] = "";

	go_image_init(&image, false, false);
	assert_int_equal(open_table(), 0);
	assert_int_equal(go_table_stack(table, GO_TEXT + 5, put_range, text), 0);
	assert_string_equal(text, "0-1:0 1-3f:24 3f-40:0 ");
	assert_int_equal(go_table_stack(table, GO_TEXT + 0x40, put_range, text), -ENOENT);
	assert_int_equal(go_table_stack(table, GO_TEXT + 0x60, put_range, text), -ENOENT);
}

CASE_WITH(test_no_table, NULL, teardown)
{
	image_init(&image);
	assert_int_equal(open_table(), -ENOENT);
	go_image_init(&image, false, false);
	image.bytes[GO_TABLE] = 0xfa; /* Go 1.16 */
	assert_int_equal(open_table(), -ENOTSUP);
	/* Nothing says where the code begins. */
	go_image_init(&image, false, true);
	image_section(&image, SECTION_BASE)->sh_size = 0;
	assert_int_equal(open_table(), -ENOENT);
}

/* Calls that lead to each other end. */
CASE_WITH(test_endless_calls, NULL, teardown)
{
	struct go_maker go = {.image = &image};
	struct go_frame frames[GO_FRAMES_MAX];
	uint32_t count;

	go_image_init(&image, false, false);
	go_call_put(&go, 0, 0, 0x14);
	assert_int_equal(open_table(), 0);
	assert_int_equal(go_inlines_find(table, GO_TEXT + 0x14, frames, &count), 0);
	assert_int_equal(count, GO_FRAMES_MAX);
	assert_string_equal(frames[count - 1].name, "main.outer");
	assert_null(frames[count - 1].file);
}

/* Whatever the bytes are, nothing outside of the file is read. */
CASE_WITH(test_damage, NULL, teardown)
{
	static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
	struct go_frame frames[GO_FRAMES_MAX];
	char text[4096];
	uint32_t count;

	for (uint32_t i = 0; i < GO_TABLE_BYTES * ARRAY_SIZE(values); i++) {
		go_image_init(&image, i % 3 == 0, false);
		image.bytes[GO_TABLE + i / ARRAY_SIZE(values)] = values[i % ARRAY_SIZE(values)];
		if (open_table())
			continue;
		for (uint64_t at = 0; at < 0x60; at += 4) {
			*text = '\0';
			go_table_stack(table, GO_TEXT + at, put_range, text);
			go_table_name(table, GO_TEXT + at);
			assert_int_equal(go_inlines_find(table, GO_TEXT + at, frames, &count), 0);
		}
	}
}

/* A symbol table, if there is one, names functions first. */
CASE_WITH(test_symbol_file, NULL, teardown)
{
	struct symbol_file *file;
	uint64_t offset, start, end;

	go_image_init(&image, false, false);
	image_symbol(&image, SECTION_SYMBOLS, "main.leaf.abi0", GO_TEXT + 0x40, 8,
		     ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
	blob = image_blob(&image);
	assert_int_equal(symbol_file_create(&blob, NULL, &file), 0);
	assert_string_equal(symbol_file_find(file, GO_TEXT + 0x41, &offset), "main.leaf.abi0");
	assert_string_equal(symbol_file_find(file, GO_TEXT + 0x31, &offset), "main.outer");
	assert_int_equal(offset, 0x31);
	/* The return address of a signal handler, minus 1. */
	assert_string_equal(symbol_file_find(file, GO_TEXT + 0x4f, &offset),
			    "runtime.sigreturn__sigaction");
	assert_int_equal(offset, 0);
	assert_true(symbol_file_range(file, GO_TEXT + 0x31, &start, &end));
	assert_int_equal(end - start, 0x40);
	assert_int_equal(symbol_file_count(file), 1 + GO_FUNCTION_COUNT);
	symbol_file_destroy(file);
}
