/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "decode/cfi/go_rows.h"
#include "decode/elf/go_table.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/made_go.h"
#include "uapi/unwind.h"

#define UNKNOWN	      UNWIND_CFA_COMMAND(UNWIND_UNKNOWN)
#define FRAME_POINTER UNWIND_CFA_COMMAND(UNWIND_FRAME_POINTER)
#define REST	      UNWIND_CFA(UNWIND_CFA_RBP, 16)

static struct elf_image image;
static struct blob blob;
static struct unwind_rows rows;
static uint64_t rest_low;
static int rest_error;

/* The other source: it has one rule for all code. */
static int add_rest(void *context, const struct unwind_gap *gap, uint64_t *work_bytes)
{
	rest_low = gap->low;
	return rest_error ?: frame_window_add(gap->window, gap->window->start, REST, 2);
}

static void make_page(void)
{
	const struct unwind_gap_source rest = {.add = add_rest};
	struct unwind_gap_source source;
	struct unwind_file *file;
	struct go_rows *go;

	blob = image_blob(&image);
	unwind_rows_deinit(&rows);
	assert_int_equal(go_rows_create(&blob, &rest, &go), 0);
	assert_int_equal(unwind_file_create(&blob, &file), 0);
	source = go_rows_source(go);
	unwind_file_add_source(file, &source);
	unwind_file_add_source(file, &rest);
	assert_int_equal(unwind_file_page(file, 0, &rows), 0);
	unwind_file_destroy(file);
	go_rows_destroy(go);
}

static int32_t cfa_at(uint32_t offset)
{
	return unwind_rows_at(&rows, IMAGE_TEXT + offset).cfa;
}

static int setup(void **state)
{
	rest_error = 0;
	return 0;
}

static int teardown(void **state)
{
	unwind_rows_deinit(&rows);
	return 0;
}

CASE_WITH(test_frame_sizes, setup, teardown)
{
	go_image_init(&image, false, false);
	make_page();
	assert_int_equal(cfa_at(0), UNWIND_CFA(UNWIND_CFA_RSP, 8));
	assert_int_equal(cfa_at(1), UNWIND_CFA(UNWIND_CFA_RSP, 32));
	assert_int_equal(cfa_at(0x3e), UNWIND_CFA(UNWIND_CFA_RSP, 32));
	assert_int_equal(cfa_at(0x3f), UNWIND_CFA(UNWIND_CFA_RSP, 8));
	assert_int_equal(cfa_at(0x40), UNKNOWN); /* it has no sizes */
}

/* C behind the functions of Go. */
CASE_WITH(test_other_code, setup, teardown)
{
	go_image_init(&image, false, false);
	make_page();
	assert_int_equal(cfa_at(0x60), REST);
	assert_int_equal(rest_low, GO_TEXT + 0x60);
	rest_error = -ENOENT;
	make_page();
	assert_int_equal(cfa_at(0x3e), UNWIND_CFA(UNWIND_CFA_RSP, 32));
	assert_int_equal(cfa_at(0x60), FRAME_POINTER);
	rest_error = -E2BIG;
	make_page();
	assert_int_equal(cfa_at(0x60), UNKNOWN);
}

/* runtime.mstart begins a stack, whatever its frame size. */
CASE_WITH(test_roles, setup, teardown)
{
	go_image_init(&image, false, false);
	memcpy(image.bytes + GO_TABLE + GO_NAMES, "runtime.mstart", 15);
	make_page();
	assert_int_equal(cfa_at(0), UNWIND_CFA_COMMAND(UNWIND_ROOT));
}

CASE_WITH(test_damaged_sizes, setup, teardown)
{
	go_image_init(&image, false, false);
	image.bytes[GO_TABLE + GO_VALUES + 3] = 5; /* 3 bytes more: not a multiple of a word */
	make_page();
	assert_int_equal(cfa_at(1), UNKNOWN);
}

CASE_WITH(test_other_language, setup, teardown)
{
	image_init(&image);
	make_page();
	assert_int_equal(cfa_at(0x10), REST);
}
