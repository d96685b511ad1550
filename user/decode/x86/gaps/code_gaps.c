/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/gaps/code_gaps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "decode/x86/gaps/builtins.h"
#include "decode/x86/code_functions.h"
#include "decode/x86/code_step.h"
#include "decode/x86/frame_pointers.h"

/*
 * A part begins and ends this much before and behind the page that is wanted, so that functions are
 * whole; and rows are taken from a kept part only if they are this far from its ends.
 */
#define MARGIN_BYTES	  (64u << 10)
#define KEPT_MARGIN_BYTES (32u << 10)

#define WORK_PER_BYTE 4 /* of the page's work budget, since following costs more than reading */

/*
 * Code before and behind a window that is searched for frame pointers, and its work per byte. It is
 * searched in blocks, each once: their counts are kept.
 */
#define NEAR_BYTES	    (1u << 20)
#define NEAR_BYTES_PER_WORK 4
#define BLOCK_BYTES	    (256u << 10)
#define BLOCKS_KEPT	    1024 /* of 256 MB of code, if that is one gap */

/* Gaps of a file that are searched for builtins. All that an engine has are in one. */
#define BUILTIN_SEARCHES_MAX 4

#define PADDING_BYTES_MAX 64 /* larger gaps are followed, whatever they hold */
#define PIECE_BYTES	  (16u << 10)

struct extent {
	uint64_t start, end;
};

/* The counts of a block: the part of a gap at [number * BLOCK_BYTES, (number + 1) * BLOCK_BYTES).
 */
struct counted_block {
	uint64_t low, number;		    /* of the gap; of the block */
	struct frame_pointer_counts counts; /* of 0 bytes: the slot is empty */
};

struct code_gaps {
	const struct blob *blob; /* borrowed */
	struct elf_file elf;
	struct code_starts starts;
	struct code_decoder decoder;
	struct frame_states frames; /* only the unknown one */
	bool searched;		    /* starts are known */
	bool quick;
	enum frame_pointers pointers;  /* of the code around the last window */
	struct counted_block *counted; /* by number modulo BLOCKS_KEPT; NULL: none yet */
	struct builtins builtins;
	struct extent of_builtins; /* where they were searched */
	uint32_t builtin_searches;
	/* The code around the last small gap: there is one between most functions. */
	struct extent piece;
	uint8_t piece_code[PIECE_BYTES];
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
	builtins_deinit(&gaps->builtins);
	unwind_rows_deinit(&gaps->rows);
	free(gaps->counted);
	free(gaps);
}

void code_gaps_set_quick(struct code_gaps *gaps, bool quick)
{
	gaps->quick = quick;
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

/*
 * Returns the size of the padding of assemblers and linkers at a place; 0: it is another
 * instruction, or a rare form. Decoding takes several times as long.
 */
static size_t usual_padding(const uint8_t *code, size_t code_bytes)
{
	static const struct {
		uint8_t bytes[3], size_bytes;
	} nops[] = {
		{{0x0f, 0x1f, 0x00}, 3}, {{0x0f, 0x1f, 0x40}, 4}, {{0x0f, 0x1f, 0x44}, 5},
		{{0x0f, 0x1f, 0x80}, 7}, {{0x0f, 0x1f, 0x84}, 8},
	};
	size_t at = 0;

	if (!code[0] || code[0] == 0xcc)
		return 1;
	while (at < code_bytes && (code[at] == 0x66 || code[at] == 0x2e))
		at++;
	if (at < code_bytes && code[at] == 0x90)
		return at + 1;
	for (size_t i = 0; i < ARRAY_SIZE(nops); i++) {
		if (code_bytes - at >= nops[i].size_bytes && !memcmp(code + at, nops[i].bytes, 3))
			return at + nops[i].size_bytes;
	}
	return 0;
}

/* Returns true if code holds only padding, which never runs. Zeros are padding of linkers. */
static bool is_padding(const struct code_gaps *gaps, const uint8_t *code, size_t code_bytes)
{
	const struct frame_state_entry *frame =
		frame_states_get(&gaps->frames, FRAME_STATE_UNKNOWN);
	struct code_step step;

	for (size_t at = 0, usual; at < code_bytes; at += usual ?: step.length) {
		usual = usual_padding(code + at, code_bytes - at);
		if (!usual &&
		    (!code_step(&gaps->decoder, code + at, code_bytes - at, at, frame, &step) ||
		     (step.way != CODE_PADDING && step.way != CODE_TRAP)))
			return false;
	}
	return true;
}

/* Returns what a gap has from a margin before its window to a page and a margin behind its start.
 */
static struct extent extent_of(const struct unwind_gap *gap, uint64_t margin_bytes)
{
	struct extent all = {gap->low, gap->high};

	if (gap->window->start - all.start > margin_bytes)
		all.start = gap->window->start - margin_bytes;
	if (all.end - gap->window->start > UNWIND_PAGE_BYTES + margin_bytes)
		all.end = gap->window->start + UNWIND_PAGE_BYTES + margin_bytes;
	return all;
}

/* Returns 0, -ENOENT (not in the file), -ENOMEM or the blob's error. The caller frees *ret. */
static int read_code(const struct code_gaps *gaps, const struct extent *of, uint8_t **ret)
{
	AUTO_FREE uint8_t *code = malloc(of->end - of->start + 1);
	uint64_t offset;
	int err;

	if (!code)
		return -ENOMEM;
	if (!elf_file_offset(&gaps->elf, of->start, &offset))
		return -ENOENT;
	err = blob_read(gaps->blob, offset, code, of->end - of->start);
	if (err)
		return err == -EBADMSG ? -ENOENT : err;
	*ret = TAKE_PTR(code);
	return 0;
}

static int spend(uint64_t *work_bytes, uint64_t work)
{
	if (work > *work_bytes)
		return -E2BIG;
	*work_bytes -= work;
	return 0;
}

/* Add the counts of the block of a gap that contains an address. Sets *ret_end to its end. */
static int count_block(struct code_gaps *gaps, const struct unwind_gap *gap, uint64_t address,
		       uint64_t *work_bytes, struct frame_pointer_counts *sum, uint64_t *ret_end)
{
	uint64_t number = address / BLOCK_BYTES, start = number * BLOCK_BYTES;
	struct counted_block *block = &gaps->counted[number % BLOCKS_KEPT];
	struct extent of = {.start = start > gap->low ? start : gap->low};
	AUTO_FREE uint8_t *code = NULL;
	int err;

	of.end = gap->high - start > BLOCK_BYTES ? start + BLOCK_BYTES : gap->high;
	*ret_end = of.end;
	if (!block->counts.code_bytes || block->low != gap->low || block->number != number) {
		block->counts.code_bytes = 0;
		err = spend(work_bytes, (of.end - of.start) / NEAR_BYTES_PER_WORK);
		err = err ?: read_code(gaps, &of, &code);
		if (err)
			return err;
		block->low = gap->low;
		block->number = number;
		block->counts = frame_pointers_count(code, of.end - of.start);
	}
	frame_pointers_add(sum, &block->counts);
	return 0;
}

/* Find out whether the code around a window keeps frame pointers. */
static int search_near(struct code_gaps *gaps, const struct unwind_gap *gap, uint64_t *work_bytes)
{
	const struct extent near = extent_of(gap, NEAR_BYTES);
	struct frame_pointer_counts counts = {0};
	int err = 0;

	gaps->pointers = FRAME_POINTERS_NONE;
	if (gap->high - gap->low < FRAME_POINTERS_BYTES_MIN)
		return 0;
	gaps->counted = gaps->counted ?: calloc(BLOCKS_KEPT, sizeof(*gaps->counted));
	if (!gaps->counted)
		return -ENOMEM;
	for (uint64_t at = near.start; at < near.end && !err;)
		err = count_block(gaps, gap, at, work_bytes, &counts, &at);
	if (!err)
		gaps->pointers = frame_pointers_judge(&counts);
	return err;
}

/*
 * Find out whether a part holds only padding. Returns 0 (it does not), -ENOENT (it does), or as
 * read_code().
 */
static int check_padding(struct code_gaps *gaps, const struct extent *part)
{
	uint64_t bytes = part->end - part->start, offset, left;
	int err;

	if (bytes > PADDING_BYTES_MAX)
		return 0;
	if (part->start < gaps->piece.start || part->end > gaps->piece.end) {
		gaps->piece = (struct extent){0};
		if (!elf_file_offset(&gaps->elf, part->start, &offset) ||
		    offset >= gaps->blob->size_bytes)
			return -ENOENT;
		left = gaps->blob->size_bytes - offset;
		if (left > PIECE_BYTES)
			left = PIECE_BYTES;
		err = bytes > left ? -ENOENT
				   : blob_read(gaps->blob, offset, gaps->piece_code, left);
		if (err)
			return err == -EBADMSG ? -ENOENT : err;
		gaps->piece = (struct extent){part->start, part->start + left};
	}
	return is_padding(gaps, gaps->piece_code + (part->start - gaps->piece.start), bytes)
		       ? -ENOENT
		       : 0;
}

/* Make the rows of a part, from its code. Padding gets none. */
static int make_part(struct code_gaps *gaps, const struct unwind_gap *gap, uint64_t *work_bytes)
{
	const struct extent part = extent_of(gap, MARGIN_BYTES);
	uint64_t bytes = part.end - part.start;
	AUTO_FREE uint8_t *code = NULL;
	int err;

	err = check_padding(gaps, &part);
	if (err)
		return err;
	if (gaps->quick)
		return -EAGAIN;
	err = spend(work_bytes, bytes * WORK_PER_BYTE);
	err = err ?: read_code(gaps, &part, &code);
	if (err)
		return err;
	gaps->end = 0;
	gaps->rows.rows.size = 0;
	err = search_starts(gaps);
	err = err ?: code_functions(code, bytes, part.start, &gaps->starts, &gaps->rows);
	if (err)
		return err;
	gaps->start = part.start;
	gaps->end = part.end;
	gaps->low = gap->low;
	gaps->high = gap->high;
	return 0;
}

/*
 * Add the rows of an engine's builtins. A page takes about 5 ms, so it is made at once, and not
 * behind other requests as those of other gaps.
 */
static int add_builtins(struct code_gaps *gaps, const struct unwind_gap *gap, uint64_t *work_bytes)
{
	struct builtins builtins;
	int err;

	if (gap->low != gaps->of_builtins.start || gap->high != gaps->of_builtins.end) {
		if (gaps->builtin_searches == BUILTIN_SEARCHES_MAX)
			return -ENOENT;
		err = builtins_init(&builtins, &gaps->elf, gap->low, gap->high);
		if (err)
			return err;
		builtins_deinit(&gaps->builtins);
		gaps->builtins = builtins;
		gaps->of_builtins = (struct extent){gap->low, gap->high};
		gaps->builtin_searches++;
	}
	return builtins_add(&gaps->builtins, &gaps->elf, gap->window, work_bytes);
}

static bool is_kept(const struct code_gaps *gaps, const struct unwind_gap *gap)
{
	uint64_t start = gap->window->start, end = gap->window->end;

	return gaps->low == gap->low && gaps->high == gap->high && start >= gaps->start &&
	       end <= gaps->end &&
	       (gaps->start == gap->low || start - gaps->start >= KEPT_MARGIN_BYTES) &&
	       (gaps->end == gap->high || gaps->end - end >= KEPT_MARGIN_BYTES);
}

/* Add a row. Code whose frame is unknown has its frame pointer, if the code around it keeps them.
 */
static int add_row(const struct code_gaps *gaps, const struct frame_window *window,
		   uint64_t address, int32_t cfa, int16_t rbp)
{
	if (cfa == UNWIND_CFA_COMMAND(UNWIND_UNKNOWN) && gaps->pointers == FRAME_POINTERS_KEPT)
		cfa = UNWIND_CFA_COMMAND(UNWIND_FRAME_POINTER);
	return frame_window_add(window, address, cfa, rbp);
}

static int add(void *gaps_, const struct unwind_gap *gap, uint64_t *work_bytes)
{
	struct code_gaps *gaps = gaps_;
	const struct frame_window *window = gap->window;
	struct unwind_row row;
	size_t next;
	bool only;
	int err = open_file(gaps);

	if (err)
		return err == -EBADMSG || err == -ENOEXEC ? -ENOENT : err;
	err = search_near(gaps, gap, work_bytes);
	only = !err && gaps->pointers == FRAME_POINTERS_ONLY;
	if (only)
		err = add_builtins(gaps, gap, work_bytes);
	else if (!err && !is_kept(gaps, gap))
		err = make_part(gaps, gap, work_bytes);
	if (err == -EAGAIN)
		return frame_window_add(window, window->start, UNWIND_CFA_COMMAND(UNWIND_NOT_MADE),
					UNWIND_RBP_KEPT);
	if (err || only)
		return err;
	row = unwind_rows_at(&gaps->rows, (uint32_t)(window->start - gaps->start));
	err = add_row(gaps, window, window->start, row.cfa, row.rbp);
	next = unwind_rows_behind(&gaps->rows, (uint32_t)(window->start - gaps->start));
	for (; !err && next < gaps->rows.rows.size; next++) {
		const struct unwind_wide_row *at = &gaps->rows.rows.data[next];

		if (gaps->start + at->offset >= window->end)
			break;
		err = add_row(gaps, window, gaps->start + at->offset, at->cfa, at->rbp);
	}
	return err;
}

struct unwind_gap_source code_gaps_source(struct code_gaps *gaps)
{
	return (struct unwind_gap_source){.add = add, .context = gaps};
}

size_t code_gaps_bytes(const struct code_gaps *gaps)
{
	return sizeof(*gaps) + (gaps->counted ? BLOCKS_KEPT * sizeof(*gaps->counted) : 0) +
	       gaps->starts.starts.capacity * sizeof(*gaps->starts.starts.data) +
	       gaps->builtins.all.capacity * sizeof(*gaps->builtins.all.data) +
	       gaps->builtins.jumps.capacity * sizeof(*gaps->builtins.jumps.data) +
	       gaps->rows.rows.capacity * sizeof(*gaps->rows.rows.data) +
	       gaps->elf.sections.capacity * sizeof(*gaps->elf.sections.data);
}
