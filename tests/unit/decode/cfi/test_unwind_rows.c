/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <errno.h>

#include "base/scope.h"
#include "decode/cfi/unwind_rows.h"
#include "tests/unit/cases.h"

#define RSP(offset)	 UNWIND_CFA(UNWIND_CFA_RSP, offset)
#define COMMAND(command) UNWIND_CFA_COMMAND(UNWIND_##command)

static void assert_row(struct unwind_row row, uint16_t pc, int32_t cfa, int16_t rbp)
{
	assert_int_equal(row.pc, pc);
	assert_int_equal(row.cfa, cfa);
	assert_int_equal(row.rbp, rbp);
}

CASE(test_at)
{
	CLEANUP(unwind_rows_deinit) struct unwind_rows rows = {0};

	assert_row(unwind_rows_at(&rows, 0), 0, COMMAND(NOT_MADE), UNWIND_RBP_KEPT);
	assert_int_equal(unwind_rows_add(&rows, 10, RSP(8), UNWIND_RBP_KEPT), 0);
	assert_int_equal(unwind_rows_add(&rows, 20, RSP(16), -2), 0);
	assert_row(unwind_rows_at(&rows, 9), 0, COMMAND(NOT_MADE), UNWIND_RBP_KEPT);
	assert_row(unwind_rows_at(&rows, 10), 0, RSP(8), UNWIND_RBP_KEPT);
	assert_row(unwind_rows_at(&rows, 19), 0, RSP(8), UNWIND_RBP_KEPT);
	assert_row(unwind_rows_at(&rows, 20), 0, RSP(16), -2);
	assert_row(unwind_rows_at(&rows, UINT32_MAX), 0, RSP(16), -2);
}

CASE(test_add_says_nothing_twice)
{
	CLEANUP(unwind_rows_deinit) struct unwind_rows rows = {0};

	assert_int_equal(unwind_rows_add(&rows, 0, RSP(8), -2), 0);
	assert_int_equal(unwind_rows_add(&rows, 4, RSP(8), -2), 0);
	assert_int_equal(rows.rows.size, 1);
	assert_int_equal(unwind_rows_add(&rows, 4, RSP(8), -3), 0);
	assert_int_equal(rows.rows.size, 2);
	/* Replaces the row at that offset, and then equals the row before it. */
	assert_int_equal(unwind_rows_add(&rows, 4, RSP(24), -3), 0);
	assert_int_equal(rows.rows.size, 2);
	assert_row(unwind_rows_at(&rows, 4), 0, RSP(24), -3);
	assert_int_equal(unwind_rows_add(&rows, 4, RSP(8), -2), 0);
	assert_int_equal(rows.rows.size, 1);
	assert_row(unwind_rows_at(&rows, 4), 0, RSP(8), -2);
}

CASE(test_add_descending)
{
	CLEANUP(unwind_rows_deinit) struct unwind_rows rows = {0};

	assert_int_equal(unwind_rows_add(&rows, 4, RSP(8), -2), 0);
	assert_int_equal(unwind_rows_add(&rows, 3, RSP(16), -2), -EINVAL);
	assert_int_equal(rows.rows.size, 1);
}

CASE(test_page)
{
	CLEANUP(unwind_rows_deinit) struct unwind_rows rows = {0};
	struct unwind_row page[8];

	assert_int_equal(unwind_rows_page(&rows, 0, page, 8), 1);
	assert_row(page[0], 0, COMMAND(NOT_MADE), UNWIND_RBP_KEPT);

	assert_int_equal(unwind_rows_add(&rows, 0xfff0, RSP(8), -2), 0);
	assert_int_equal(unwind_rows_add(&rows, 0x10004, RSP(16), -2), 0);
	assert_int_equal(unwind_rows_add(&rows, 0x1ffff, RSP(24), -2), 0);
	assert_int_equal(unwind_rows_add(&rows, 0x20000, RSP(32), -2), 0);

	assert_int_equal(unwind_rows_page(&rows, 0, page, 8), 2);
	assert_row(page[0], 0, COMMAND(NOT_MADE), UNWIND_RBP_KEPT);
	assert_row(page[1], 0xfff0, RSP(8), -2);

	assert_int_equal(unwind_rows_page(&rows, 0x10000, page, 8), 3);
	assert_row(page[0], 0, RSP(8), -2);
	assert_row(page[1], 4, RSP(16), -2);
	assert_row(page[2], 0xffff, RSP(24), -2);

	/* An unaligned start, like that of a region. */
	assert_int_equal(unwind_rows_page(&rows, 0x10004, page, 8), 3);
	assert_row(page[0], 0, RSP(16), -2);
	assert_row(page[1], 0xfffb, RSP(24), -2);
	assert_row(page[2], 0xfffc, RSP(32), -2);

	assert_int_equal(unwind_rows_page(&rows, 0xffff0000, page, 8), 1);
	assert_row(page[0], 0, RSP(32), -2);
}

CASE(test_page_full)
{
	CLEANUP(unwind_rows_deinit) struct unwind_rows rows = {0};
	struct unwind_row page[4];

	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(unwind_rows_add(&rows, i, RSP(8 * (i + 1)), -2), 0);
	assert_int_equal(unwind_rows_page(&rows, 0, page, 4), 4);
	assert_row(page[3], 3, RSP(32), -2);
	assert_int_equal(unwind_rows_page(&rows, 0, page, 3), 3);
	assert_row(page[1], 1, RSP(16), -2);
	assert_row(page[2], 2, COMMAND(UNKNOWN), UNWIND_RBP_KEPT);
	assert_int_equal(unwind_rows_page(&rows, 0, page, 1), 1);
	assert_row(page[0], 0, COMMAND(UNKNOWN), UNWIND_RBP_KEPT);
}
