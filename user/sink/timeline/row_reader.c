/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/timeline/row_reader.h"

#include <errno.h>
#include <string.h>
#include <zstd.h>

void row_reader_begin(struct row_reader *reader, const struct packed_rows *rows)
{
	reader->rows = rows;
	reader->block = 0;
	reader->at = (struct cursor){0};
	memset(reader->state, 0, sizeof(reader->state));
	reader->read = reader->latest_ns = 0;
	reader->window.size = 0;
}

/* --- in order of arrival ------------------------------------------------------------- */

/* Open the next block; the last one is not compressed. */
static int open_block(struct row_reader *reader)
{
	const struct packed_rows *rows = reader->rows;
	const struct packed_block *block;

	if (reader->block >= rows->blocks.size) {
		reader->at = packed_rows_open(rows);
		return 0;
	}
	block = &rows->blocks.data[reader->block++];
	if (block->size_bytes == block->unpacked_bytes) {
		reader->at = cursor_of(block->bytes, block->size_bytes);
		return 0;
	}
	if (!reader->zstd)
		reader->zstd = ZSTD_createDCtx();
	if (!reader->zstd ||
	    ZSTD_decompressDCtx(reader->zstd, reader->unpacked, sizeof(reader->unpacked),
				block->bytes, block->size_bytes) != block->unpacked_bytes)
		return -ENOMEM;
	reader->at = cursor_of(reader->unpacked, block->unpacked_bytes);
	return 0;
}

/* Read the next row into the reader's state. */
static int read_row(struct row_reader *reader)
{
	int err = cursor_left(&reader->at) ? 0 : open_block(reader);

	err = err ?: packed_row_read(&reader->at, reader->rows->columns, reader->state);
	if (err)
		return err;
	reader->read++;
	if (reader->state[1] > reader->latest_ns)
		reader->latest_ns = reader->state[1];
	return 0;
}

/* --- the window ---------------------------------------------------------------------- */

static bool is_before(const struct window_row *a, const struct window_row *b)
{
	if (a->values[0] != b->values[0])
		return a->values[0] < b->values[0];
	return a->number < b->number;
}

static int window_add(struct row_reader *reader)
{
	struct window_row row = {.number = reader->read};
	struct window_row *rows;
	size_t at = reader->window.size;

	memcpy(row.values, reader->state + 1, sizeof(row.values));
	if (vec_push(&reader->window, row))
		return -ENOMEM;
	rows = reader->window.data;
	for (; at && is_before(&row, &rows[(at - 1) / 2]); at = (at - 1) / 2)
		rows[at] = rows[(at - 1) / 2];
	rows[at] = row;
	return 0;
}

static void window_take(struct row_reader *reader)
{
	struct window_row *rows = reader->window.data, last = rows[--reader->window.size];
	size_t count = reader->window.size, at = 0, child;

	reader->row = rows[0];
	while ((child = 2 * at + 1) < count) {
		if (child + 1 < count && is_before(&rows[child + 1], &rows[child]))
			child++;
		if (!is_before(&rows[child], &last))
			break;
		rows[at] = rows[child];
		at = child;
	}
	rows[at] = last;
}

/* Returns true if no row that is not read yet can be before the first one of the window. */
static bool is_next(const struct row_reader *reader)
{
	return reader->window.size &&
	       (reader->read == reader->rows->count || reader->window.size >= ROW_WINDOW_MAX ||
		reader->latest_ns - reader->window.data[0].values[0] >= reader->rows->lateness_ns);
}

int row_reader_next(struct row_reader *reader, const uint64_t **ret)
{
	int err = 0;

	while (!err && !is_next(reader) && reader->read < reader->rows->count) {
		err = read_row(reader);
		err = err ?: window_add(reader);
	}
	if (err || !reader->window.size)
		return err;
	window_take(reader);
	*ret = reader->row.values;
	return 1;
}

void row_reader_deinit(struct row_reader *reader)
{
	ZSTD_freeDCtx(reader->zstd);
	vec_deinit(&reader->window);
}
