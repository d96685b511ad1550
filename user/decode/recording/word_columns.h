/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Predicts the words of a chunk (uapi/packed_recording.h); packer and unpacker get the same
 * results. A column is the sequence of the words at one index in the runs of one type of chunk.
 * First runs and later runs have separate columns.
 *
 * A column predicts its next word from the last one in one of three ways:
 * - constant: the same word;
 * - time: the low half of a time, which changes as much as the time_ns of the chunks;
 * - counter: the word changes by the same step as before.
 * A column uses the way that would have been best for its last word.
 */
#ifndef JITBPF_DECODE_RECORDING_WORD_COLUMNS_H
#define JITBPF_DECODE_RECORDING_WORD_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/zigzag.h"
#include "uapi/packed_recording.h"

#define WORD_TYPES JITBPF_PACKED_SAMPLE /* types of chunks, at most */

enum word_kind {
	WORD_CONSTANT,
	WORD_TIME,
	WORD_COUNTER,
};

struct word_column {
	uint32_t last;
	uint32_t step; /* last change of the word */
	enum word_kind kind;
};

/* The columns of one kind of run. */
struct word_row {
	uint64_t time_ns; /* of the last chunk */
	struct word_column columns[JITBPF_RUN_WORDS_MAX];
};

/* Zero-initialized, all words are expected to be 0. */
struct word_rows {
	struct word_row rows[WORD_TYPES][2]; /* by type: the first run, later ones */
};

/* Begin a run of a chunk. *ret_passed: the time since the last chunk, modulo 2^32. */
static inline struct word_row *word_rows_begin(struct word_rows *rows, uint8_t type, bool first,
					       uint64_t time_ns, uint32_t *ret_passed)
{
	struct word_row *row = &rows->rows[type][!first];

	*ret_passed = (uint32_t)(time_ns - row->time_ns);
	row->time_ns = time_ns;
	return row;
}

static inline uint32_t word_expected(const struct word_column *column, uint32_t passed)
{
	if (column->kind == WORD_TIME)
		return column->last + passed;
	return column->last + (column->kind == WORD_COUNTER ? column->step : 0);
}

static inline void word_learn(struct word_column *column, uint32_t word, uint32_t passed)
{
	uint32_t step = word - column->last;

	if (step && step == column->step)
		column->kind = WORD_COUNTER;
	else if (zigzag_word(step - passed) < zigzag_word(step))
		column->kind = WORD_TIME;
	else
		column->kind = WORD_CONSTANT;
	column->last = word;
	column->step = step;
}

#endif
