/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/code_gaps.h"

#include <errno.h>
#include <stdlib.h>

#include "base/scope.h"
#include "decode/x86/code_functions.h"
#include "decode/x86/code_step.h"

/*
 * A part begins and ends this much before and behind the page that is wanted, so that functions are
 * whole; and rows are taken from a kept part only if they are this far from its ends.
 */
#define MARGIN_BYTES	  (64u << 10)
#define KEPT_MARGIN_BYTES (32u << 10)

#define WORK_PER_BYTE 4 /* of the page's work budget, since following costs more than reading */

#define PADDING_BYTES_MAX 64 /* larger gaps are followed, whatever they hold */

struct code_gaps {
	const struct blob *blob; /* borrowed */
	struct elf_file elf;
	struct code_starts starts;
	struct code_decoder decoder;
	struct frame_states frames; /* only the unknown one */
	bool searched;		    /* starts are known */
	/* The last part, of addresses [start, end) in a gap [low, high). */
	struct unwind_rows rows;
	uint64_t start, end, low, high;
};

DEFINE_CLEANUP(struct code_gaps *, code_gaps_destroy);

int code_gaps_create(const struct blob *blob, struct code_gaps **ret)
{
	CLEANUP(code_gaps_destroyp) struct code_gaps *gaps = calloc(1, sizeof(*gaps));
	int err;

	if (!gaps)
		return -ENOMEM;
	gaps->blob = blob;
	err = code_decoder_init(&gaps->decoder);
	err = err ?: frame_states_init(&gaps->frames);
	if (err)
		return err;
	*ret = TAKE_PTR(gaps);
	return 0;
}

void code_gaps_destroy(struct code_gaps *gaps)
{
	if (!gaps)
		return;
	elf_file_deinit(&gaps->elf);
	code_starts_deinit(&gaps->starts);
	frame_states_deinit(&gaps->frames);
	unwind_rows_deinit(&gaps->rows);
	free(gaps);
}

static int open_file(struct code_gaps *gaps)
{
	return gaps->elf.blob ? 0 : elf_file_init(&gaps->elf, gaps->blob);
}

static int search_starts(struct code_gaps *gaps)
{
	int err = gaps->searched ? 0 : code_starts_init(&gaps->starts, &gaps->elf);

	gaps->searched = gaps->searched || !err;
	return err;
}

/* Returns true if code holds only padding, which never runs. Zeros are padding of linkers. */
static bool is_padding(const struct code_gaps *gaps, const uint8_t *code, size_t code_bytes)
{
	const struct frame_state_entry *frame =
		frame_states_get(&gaps->frames, FRAME_STATE_UNKNOWN);
	struct code_step step;

	for (size_t at = 0; at < code_bytes; at += step.length) {
		step.length = 1;
		if (!code[at])
			continue;
		if (!code_step(&gaps->decoder, code + at, code_bytes - at, at, frame, &step) ||
		    (step.way != CODE_PADDING && step.way != CODE_TRAP))
			return false;
	}
	return true;
}

/* Make the rows of a part, from its code. Padding gets none. */
static int make_part(struct code_gaps *gaps, const struct unwind_gap *gap, uint64_t *work_bytes)
{
	uint64_t start = gap->low, end = gap->high, offset, bytes;
	AUTO_FREE uint8_t *code = NULL;
	int err;

	if (gap->window->start - start > MARGIN_BYTES)
		start = gap->window->start - MARGIN_BYTES;
	if (end - gap->window->start > UNWIND_PAGE_BYTES + MARGIN_BYTES)
		end = gap->window->start + UNWIND_PAGE_BYTES + MARGIN_BYTES;
	bytes = end - start;
	if (bytes * WORK_PER_BYTE > *work_bytes)
		return -E2BIG;
	*work_bytes -= bytes * WORK_PER_BYTE;
	code = malloc(bytes + 1);
	if (!code)
		return -ENOMEM;
	if (!elf_file_offset(&gaps->elf, start, &offset))
		return -ENOENT;
	err = blob_read(gaps->blob, offset, code, bytes);
	if (err)
		return err == -EBADMSG ? -ENOENT : err;
	if (bytes <= PADDING_BYTES_MAX && is_padding(gaps, code, bytes))
		return -ENOENT;
	gaps->end = 0;
	gaps->rows.rows.size = 0;
	err = search_starts(gaps);
	err = err ?: code_functions(code, bytes, start, &gaps->starts, &gaps->rows);
	if (err)
		return err;
	gaps->start = start;
	gaps->end = end;
	gaps->low = gap->low;
	gaps->high = gap->high;
	return 0;
}

static bool is_kept(const struct code_gaps *gaps, const struct unwind_gap *gap)
{
	uint64_t start = gap->window->start, end = gap->window->end;

	return gaps->low == gap->low && gaps->high == gap->high && start >= gaps->start &&
	       end <= gaps->end &&
	       (gaps->start == gap->low || start - gaps->start >= KEPT_MARGIN_BYTES) &&
	       (gaps->end == gap->high || gaps->end - end >= KEPT_MARGIN_BYTES);
}

static int add(void *gaps_, const struct unwind_gap *gap, uint64_t *work_bytes)
{
	struct code_gaps *gaps = gaps_;
	const struct frame_window *window = gap->window;
	struct unwind_row row;
	size_t next;
	int err = open_file(gaps);

	if (err)
		return err == -EBADMSG || err == -ENOEXEC ? -ENOENT : err;
	if (!is_kept(gaps, gap))
		err = make_part(gaps, gap, work_bytes);
	if (err)
		return err;
	row = unwind_rows_at(&gaps->rows, (uint32_t)(window->start - gaps->start));
	err = frame_window_add(window, window->start, row.cfa, row.rbp);
	next = unwind_rows_behind(&gaps->rows, (uint32_t)(window->start - gaps->start));
	for (; !err && next < gaps->rows.rows.size; next++) {
		const struct unwind_wide_row *at = &gaps->rows.rows.data[next];

		if (gaps->start + at->offset >= window->end)
			break;
		err = frame_window_add(window, gaps->start + at->offset, at->cfa, at->rbp);
	}
	return err;
}

struct unwind_gap_source code_gaps_source(struct code_gaps *gaps)
{
	return (struct unwind_gap_source){.add = add, .context = gaps};
}

size_t code_gaps_bytes(const struct code_gaps *gaps)
{
	return sizeof(*gaps) + gaps->starts.starts.capacity * sizeof(*gaps->starts.starts.data) +
	       gaps->rows.rows.capacity * sizeof(*gaps->rows.rows.data) +
	       gaps->elf.sections.capacity * sizeof(*gaps->elf.sections.data);
}
