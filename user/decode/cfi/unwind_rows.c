/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/cfi/unwind_rows.h"

#include <errno.h>
#include <stdbool.h>

#include "base/cursor.h"
#include "base/search.h"

static bool row_says(const struct unwind_wide_row *row, int32_t cfa, int16_t rbp)
{
	return row->cfa == cfa && row->rbp == rbp;
}

int unwind_rows_add(struct unwind_rows *rows, uint32_t offset, int32_t cfa, int16_t rbp)
{
	struct unwind_wide_row row = {.offset = offset, .cfa = cfa, .rbp = rbp};
	size_t count = rows->rows.size;

	if (count && offset < rows->rows.data[count - 1].offset)
		return -EINVAL;
	if (count && offset == rows->rows.data[count - 1].offset)
		count--;
	if (count && row_says(&rows->rows.data[count - 1], cfa, rbp)) {
		rows->rows.size = count;
		return 0;
	}
	if (vec_reserve(&rows->rows, count + 1))
		return -ENOMEM;
	rows->rows.data[count] = row;
	rows->rows.size = count + 1;
	return 0;
}

int unwind_rows_decode(const void *bytes, size_t size_bytes, struct unwind_rows *ret)
{
	struct cursor at = cursor_of(bytes, size_bytes);
	struct unwind_wide_row row;
	int err;

	if (vec_reserve(&ret->rows, size_bytes / sizeof(row)))
		return -ENOMEM;
	while (cursor_left(&at)) {
		if (cursor_read(&at, &row, sizeof(row)) || row.reserved)
			return -EBADMSG;
		err = unwind_rows_add(ret, row.offset, row.cfa, row.rbp);
		if (err)
			return err == -EINVAL ? -EBADMSG : err;
	}
	return 0;
}

size_t unwind_rows_behind(const struct unwind_rows *rows, uint32_t offset)
{
	const struct unwind_wide_row *all = rows->rows.data;

	return partition_point(0, rows->rows.size, i, all[i].offset <= offset);
}

/* Returns the row that holds after the first `count` rows. */
static struct unwind_row row_of(const struct unwind_rows *rows, size_t count)
{
	const struct unwind_wide_row *row;

	if (!count)
		return (struct unwind_row){.cfa = UNWIND_CFA_COMMAND(UNWIND_NOT_MADE),
					   .rbp = UNWIND_RBP_KEPT};
	row = &rows->rows.data[count - 1];
	return (struct unwind_row){.cfa = row->cfa, .rbp = row->rbp};
}

struct unwind_row unwind_rows_at(const struct unwind_rows *rows, uint32_t offset)
{
	return row_of(rows, unwind_rows_behind(rows, offset));
}

uint32_t unwind_rows_page(const struct unwind_rows *rows, uint32_t offset, struct unwind_row *ret,
			  uint32_t max)
{
	size_t next = unwind_rows_behind(rows, offset);
	uint32_t count = 0;

	ret[count++] = row_of(rows, next);
	for (; next < rows->rows.size; next++) {
		const struct unwind_wide_row *row = &rows->rows.data[next];

		if (row->offset - offset >= UNWIND_PAGE_BYTES)
			break;
		if (count == max) {
			ret[max - 1].cfa = UNWIND_CFA_COMMAND(UNWIND_UNKNOWN);
			ret[max - 1].rbp = UNWIND_RBP_KEPT;
			break;
		}
		ret[count] = row_of(rows, next + 1);
		ret[count++].pc = (uint16_t)(row->offset - offset);
	}
	return count;
}

void unwind_rows_deinit(struct unwind_rows *rows)
{
	vec_deinit(&rows->rows);
}
