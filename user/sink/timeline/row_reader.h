/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads packed rows in order of time; rows with equal times keep their order. Rows that came late
 * are sorted in a window as long as the latest row was late. A recording that was crafted can make
 * it longer than ROW_WINDOW_MAX rows: then a row may come behind a later one.
 */
#ifndef JITBPF_SINK_TIMELINE_ROW_READER_H
#define JITBPF_SINK_TIMELINE_ROW_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/vec.h"
#include "sink/timeline/packed_rows.h"

#define ROW_WINDOW_MAX (256u << 10)

struct ZSTD_DCtx_s;

struct window_row {
	uint64_t values[PACKED_COLUMNS_MAX];
	uint64_t number; /* in order of arrival */
};

/* Zero-initialized is ready for row_reader_begin(). */
struct row_reader {
	const struct packed_rows *rows; /* borrowed */
	size_t block;			/* the next one */
	struct cursor at;		/* in the present block */
	uint64_t state[PACKED_STATE_WORDS(PACKED_COLUMNS_MAX)];
	uint64_t read;		       /* number of rows that were read */
	uint64_t latest_ns;	       /* of these */
	VEC(struct window_row) window; /* a heap: the first row is the earliest */
	struct window_row row;	       /* the one that was returned last */
	struct ZSTD_DCtx_s *zstd;
	uint8_t unpacked[PACKED_BLOCK_BYTES];
};

/* Begin to read rows, which must not change meanwhile. May be called again. */
void row_reader_begin(struct row_reader *reader, const struct packed_rows *rows);

/*
 * Returns 1 with the values of the next row in *ret, which are valid until the next call; 0 after
 * the last row; or -ENOMEM.
 */
int row_reader_next(struct row_reader *reader, const uint64_t **ret);

void row_reader_deinit(struct row_reader *reader);

#endif
