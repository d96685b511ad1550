/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/cfi/go_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/scope.h"
#include "decode/cfi/go_frames.h"
#include "decode/elf/go_table.h"
#include "uapi/unwind.h"

#define FRAME_BYTES_MAX (1 << 28)

struct go_rows {
	const struct blob *blob; /* borrowed */
	struct unwind_gap_source rest;
	struct elf_file elf;
	struct go_table *table; /* NULL: not opened, or not a program of Go */
	struct go_frames frames;
	struct unwind_rows raw; /* of a function, before corrections */
	bool tried;		/* to open the table */
};

DEFINE_CLEANUP(struct go_rows *, go_rows_destroy);

int go_rows_create(const struct blob *blob, const struct unwind_gap_source *rest,
		   struct go_rows **ret)
{
	struct go_rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	rows->blob = blob;
	rows->rest = *rest;
	*ret = rows;
	return 0;
}

void go_rows_destroy(struct go_rows *rows)
{
	if (!rows)
		return;
	go_table_destroy(rows->table);
	go_frames_deinit(&rows->frames);
	unwind_rows_deinit(&rows->raw);
	elf_file_deinit(&rows->elf);
	free(rows);
}

/* Returns -ENOENT if the file has no functions of Go that can be read. */
static int open_table(struct go_rows *rows)
{
	CLEANUP(go_table_destroyp) struct go_table *table = NULL;
	int err;

	if (rows->tried)
		return rows->table ? 0 : -ENOENT;
	err = rows->elf.blob ? 0 : elf_file_init(&rows->elf, rows->blob);
	err = err ?: go_table_create(&rows->elf, NULL, &table);
	err = err ?: go_frames_init_stripped(&rows->frames, &rows->elf, table);
	/* Other errors may not come again. */
	rows->tried = !err || err == -ENOENT || err == -ENOTSUP || err == -EBADMSG ||
		      err == -E2BIG || err == -ENOEXEC;
	if (err)
		return rows->tried ? -ENOENT : err;
	rows->table = TAKE_PTR(table);
	return 0;
}

/* Returns a part of the window. */
static struct frame_window part_of(const struct frame_window *window, uint64_t start, uint64_t end)
{
	return (struct frame_window){
		.start = start,
		.end = end < window->end ? end : window->end,
		.offset = window->offset + (uint32_t)(start - window->start),
		.rows = window->rows,
	};
}

/* --- functions of Go ---------------------------------------------------------------- */

static int add_range(void *window, const struct go_stack_range *range)
{
	bool valid = range->frame_bytes >= 0 && range->frame_bytes < FRAME_BYTES_MAX &&
		     range->frame_bytes % 8 == 0;
	int32_t cfa = valid ? UNWIND_CFA(UNWIND_CFA_RSP, range->frame_bytes + 8)
			    : UNWIND_CFA_COMMAND(UNWIND_UNKNOWN);
	const struct frame_window *to = window;

	if (range->end <= to->start)
		return 0;
	return frame_window_add(to, range->start, cfa, UNWIND_RBP_KEPT);
}

/* Add the rows of the function [start, end) in a part of the window. */
static int add_function(struct go_rows *rows, uint64_t start, uint64_t end,
			const struct frame_window *part)
{
	uint8_t bytes[GO_CODE_BYTES];
	size_t size_bytes = end - start < sizeof(bytes) ? (size_t)(end - start) : sizeof(bytes);
	struct go_code code = {.start = start, .bytes = bytes, .size_bytes = size_bytes};
	struct frame_window raw = *part;
	uint64_t offset;
	int err;

	raw.rows = &rows->raw;
	rows->raw.rows.size = 0;
	err = go_table_stack(rows->table, start, add_range, &raw);
	if (!err && elf_file_offset(&rows->elf, start, &offset))
		err = blob_read(rows->blob, offset, bytes, size_bytes);
	else if (!err)
		err = -ENOENT;
	if (err == -ENOENT || err == -EBADMSG)
		return frame_window_add(part, part->start, UNWIND_CFA_COMMAND(UNWIND_UNKNOWN),
					UNWIND_RBP_KEPT);
	return err ?: go_frames_add(&rows->frames, &code, &rows->raw, part);
}

/* --- other code ----------------------------------------------------------------------- */

/*
 * Add the rows of code that is not Go's, at the beginning of the window. Sets *ret_end to where the
 * code ends.
 */
static int add_rest(struct go_rows *rows, const struct unwind_gap *gap, uint64_t start,
		    uint64_t *work_bytes, uint64_t *ret_end)
{
	uint64_t first = go_table_start(rows->table), last = go_table_end(rows->table);
	uint64_t end = start < first && first < gap->window->end ? first : gap->window->end;
	struct frame_window part = part_of(gap->window, start, end);
	struct unwind_gap sub = {
		.window = &part,
		.low = start >= last && gap->low < last ? last : gap->low,
		.high = start < first && gap->high > first ? first : gap->high,
	};
	int err = rows->rest.add(rows->rest.context, &sub, work_bytes);

	*ret_end = end;
	if (err == -ENOENT || err == -E2BIG)
		return frame_window_add(
			&part, start,
			UNWIND_CFA_COMMAND(err == -ENOENT ? UNWIND_FRAME_POINTER : UNWIND_UNKNOWN),
			UNWIND_RBP_KEPT);
	return err;
}

static int add(void *rows_, const struct unwind_gap *gap, uint64_t *work_bytes)
{
	const struct frame_window *window = gap->window;
	struct go_rows *rows = rows_;
	int err = open_table(rows);

	if (!err && (window->end <= go_table_start(rows->table) ||
		     window->start >= go_table_end(rows->table)))
		err = -ENOENT;
	for (uint64_t at = window->start, start, end; !err && at < window->end; at = end) {
		struct frame_window part;

		if (!go_table_range(rows->table, at, &start, &end)) {
			err = add_rest(rows, gap, at, work_bytes, &end);
			continue;
		}
		if (*work_bytes < GO_CODE_BYTES) {
			part = part_of(window, at, window->end);
			return frame_window_add(&part, at, UNWIND_CFA_COMMAND(UNWIND_UNKNOWN),
						UNWIND_RBP_KEPT);
		}
		*work_bytes -= GO_CODE_BYTES;
		part = part_of(window, at, end);
		err = add_function(rows, start, end, &part);
	}
	return err;
}

struct unwind_gap_source go_rows_source(struct go_rows *rows)
{
	return (struct unwind_gap_source){.add = add, .context = rows};
}

size_t go_rows_bytes(const struct go_rows *rows)
{
	return sizeof(*rows) + (rows->table ? go_table_bytes(rows->table) : 0) +
	       go_frames_bytes(&rows->frames) +
	       rows->raw.rows.capacity * sizeof(*rows->raw.rows.data) +
	       rows->elf.sections.capacity * sizeof(*rows->elf.sections.data);
}
