/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/cfi/row_corrections.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/cfi/stack_start.h"

#define MARGIN_BYTES 4096 /* of code before and after a page */
/*
 * Larger functions count as functions that can return. The first function of a stack is usually a
 * few calls.
 */
#define FINAL_BYTES_MAX MARGIN_BYTES

int row_corrections_init(struct row_corrections *ret, const struct elf_file *elf)
{
	ret->blob = elf->blob;
	ret->narrow = elf->machine == EM_386;
	ret->entry_offset = UINT64_MAX;
	if (elf->entry && !elf_file_offset(elf, elf->entry, &ret->entry_offset))
		ret->entry_offset = UINT64_MAX;
	return ret->narrow ? 0 : go_frames_init(&ret->go, elf);
}

void row_corrections_deinit(struct row_corrections *c)
{
	go_frames_deinit(&c->go);
	unwind_rows_deinit(&c->rows);
	row_corrections_end(c);
}

size_t row_corrections_bytes(const struct row_corrections *c)
{
	return go_frames_bytes(&c->go) + c->rows.rows.capacity * sizeof(*c->rows.rows.data);
}

int row_corrections_begin(struct row_corrections *c, uint64_t page_start)
{
	uint64_t end = page_start + UNWIND_PAGE_BYTES + MARGIN_BYTES;
	uint8_t *code;
	int err;

	c->code_offset = page_start > MARGIN_BYTES ? page_start - MARGIN_BYTES : 0;
	if (end > c->blob->size_bytes)
		end = c->blob->size_bytes;
	if (end <= c->code_offset)
		return 0;
	code = malloc(end - c->code_offset);
	if (!code)
		return -ENOMEM;
	err = blob_read(c->blob, c->code_offset, code, end - c->code_offset);
	if (err) {
		free(code);
		return err;
	}
	c->code = code;
	c->code_bytes = end - c->code_offset;
	return 0;
}

void row_corrections_end(struct row_corrections *c)
{
	free(c->code);
	c->code = NULL;
	c->code_bytes = 0;
}

/* Returns the code at a file offset, or NULL; at most *size_bytes, which is reduced. */
static const uint8_t *code_at(const struct row_corrections *c, uint64_t offset, size_t *size_bytes)
{
	if (offset < c->code_offset || offset - c->code_offset >= c->code_bytes)
		return NULL;
	offset -= c->code_offset;
	if (*size_bytes > c->code_bytes - offset)
		*size_bytes = c->code_bytes - offset;
	return c->code + offset;
}

/* --- functions ------------------------------------------------------------------------ */

static int function_of_go(struct row_corrections *c, const struct call_frame *frame,
			  uint64_t offset, const struct frame_window *window)
{
	struct go_code code = {.start = frame->start, .size_bytes = frame->end - frame->start};
	uint8_t room[GO_CODE_BYTES];

	if (code.size_bytes > sizeof(room))
		code.size_bytes = sizeof(room);
	code.bytes = code_at(c, offset, &code.size_bytes);
	if (!code.bytes && offset < c->blob->size_bytes) {
		if (code.size_bytes > c->blob->size_bytes - offset)
			code.size_bytes = c->blob->size_bytes - offset;
		if (blob_read(c->blob, offset, room, code.size_bytes))
			code.size_bytes = 0;
		code.bytes = room;
	}
	return go_frames_add(&c->go, &code, &c->rows, window);
}

/*
 * Returns true if a function has no return instruction. A byte of another instruction can look like
 * one, so the result can be false for such a function.
 */
static bool cannot_return(const struct row_corrections *c, const struct call_frame *frame,
			  uint64_t offset)
{
	static const uint8_t returns[] = {0xc3, 0xc2, 0xcb, 0xca, 0xcf};
	size_t wanted = frame->end - frame->start, size_bytes = wanted;
	const uint8_t *code;

	if (frame->end - frame->start > FINAL_BYTES_MAX)
		return false;
	code = code_at(c, offset, &size_bytes);
	if (!code || size_bytes < wanted)
		return false;
	for (size_t i = 0; i < sizeof(returns); i++) {
		if (memchr(code, returns[i], size_bytes))
			return false;
	}
	return true;
}

static int add_final(const struct unwind_rows *rows, const struct frame_window *window)
{
	int err = 0;

	vec_for_each (row, &rows->rows) {
		int32_t rule = row->cfa & UNWIND_RULE_MASK, offset = row->cfa & ~UNWIND_RULE_MASK;

		if (rule == UNWIND_CFA_RSP)
			rule = UNWIND_CFA_RSP_FINAL;
		else if (rule == UNWIND_CFA_RBP)
			rule = UNWIND_CFA_RBP_FINAL;
		err = err
			      ?: unwind_rows_add(window->rows, row->offset,
						 UNWIND_CFA(rule, offset), row->rbp);
	}
	return err;
}

int row_corrections_function(struct row_corrections *c, const struct call_frame *frame, bool is_eh,
			     uint64_t offset, const struct frame_window *window)
{
	bool is_go = c->go.is_go && !is_eh;
	struct frame_window raw = *window;
	int err;

	if (!c->code || c->narrow || (!is_go && !cannot_return(c, frame, offset)))
		return call_frame_rows(frame, window);
	raw.rows = &c->rows;
	c->rows.rows.size = 0;
	err = call_frame_rows(frame, &raw);
	if (err)
		return err;
	return is_go ? function_of_go(c, frame, offset, window) : add_final(&c->rows, window);
}

/* --- pages ------------------------------------------------------------------------------- */

/* Make [start, end) of rows, which are offsets in the page, a root. */
static int cover(struct row_corrections *c, struct unwind_rows *rows, uint32_t start, uint32_t end)
{
	struct unwind_row behind = unwind_rows_at(rows, end);
	struct unwind_rows covered = c->rows;
	bool added = false;
	int err = 0;

	covered.rows.size = 0;
	for (size_t i = 0; i <= rows->rows.size && !err; i++) {
		const struct unwind_wide_row *row = &rows->rows.data[i];
		bool last = i == rows->rows.size;

		if (!added && (last || row->offset >= start)) {
			err = unwind_rows_add(&covered, start, UNWIND_CFA_COMMAND(UNWIND_ROOT),
					      UNWIND_RBP_KEPT);
			if (!err && end < UNWIND_PAGE_BYTES)
				err = unwind_rows_add(&covered, end, behind.cfa, behind.rbp);
			added = true;
		}
		if (!last && !err && (row->offset < start || row->offset > end))
			err = unwind_rows_add(&covered, row->offset, row->cfa, row->rbp);
	}
	c->rows = *rows;
	*rows = covered;
	return err;
}

/* Make a range of file offsets a root, as far as it is in the page. */
static int cover_file(struct row_corrections *c, uint64_t page_start, struct unwind_rows *rows,
		      uint64_t start, uint64_t end)
{
	uint64_t page_end = page_start + UNWIND_PAGE_BYTES;

	start = start > page_start ? start : page_start;
	end = end < page_end ? end : page_end;
	return start < end ? cover(c, rows, (uint32_t)(start - page_start),
				   (uint32_t)(end - page_start))
			   : 0;
}

static int cover_entry(struct row_corrections *c, uint64_t page_start, struct unwind_rows *rows)
{
	size_t size_bytes = STACK_START_BYTES_MAX;
	const uint8_t *code = code_at(c, c->entry_offset, &size_bytes);

	if (!code)
		return 0;
	size_bytes = stack_start_of_entry(code, size_bytes, c->narrow);
	return cover_file(c, page_start, rows, c->entry_offset, c->entry_offset + size_bytes);
}

int row_corrections_page(struct row_corrections *c, uint64_t page_start, struct unwind_rows *rows)
{
	size_t from = 0, bytes = UNWIND_PAGE_BYTES + 2 * STACK_START_BYTES_MAX;
	struct stack_start at;
	const uint8_t *code;
	uint64_t begin;
	int err;

	if (!c->code)
		return 0;
	err = cover_entry(c, page_start, rows);
	begin = page_start > STACK_START_BYTES_MAX ? page_start - STACK_START_BYTES_MAX : 0;
	code = c->narrow ? NULL : code_at(c, begin, &bytes);
	while (!err && code && stack_start_find(code, bytes, from, &at)) {
		err = cover_file(c, page_start, rows, begin + at.start, begin + at.end);
		from = at.end;
	}
	return err;
}
