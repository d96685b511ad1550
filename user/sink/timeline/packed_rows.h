/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of numbers that a sink keeps until it can write, such as single samples. They are stored as
 * differences, and compressed: a row takes about as many bytes as in a recording, so a small
 * recording needs little memory.
 *
 * The first column is a time. Rows are added in the order in which they come, and read in order of
 * time (row_reader.h).
 */
#ifndef JITBPF_SINK_TIMELINE_PACKED_ROWS_H
#define JITBPF_SINK_TIMELINE_PACKED_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/room.h"
#include "base/vec.h"

#define PACKED_COLUMNS_MAX 7
#define PACKED_BLOCK_BYTES (16u << 10) /* of a block, before its compression */

struct ZSTD_CCtx_s;

/* The memory that all rows of a sink share. Zero-initialized: nothing is used, without a limit. */
struct packed_memory {
	uint64_t limit_bytes; /* 0: none */
	uint64_t bytes;	      /* that are used */
	bool full;	      /* something had no room: from then on, nothing is added */
	struct ZSTD_CCtx_s *zstd;
};

/* Charge bytes. Returns 0, or -EDQUOT if there is no room, now or earlier. */
int packed_memory_take(struct packed_memory *memory, uint64_t bytes);

/* Returns room in the memory, for the tables of the rows. Borrows it. */
struct room packed_memory_room(struct packed_memory *memory);

void packed_memory_deinit(struct packed_memory *memory);

/*
 * From what the next row is expected: the last difference of the first column, then the last value
 * of each column.
 */
#define PACKED_STATE_WORDS(columns) ((columns) + 1)

struct packed_block {
	uint8_t *bytes;
	uint32_t size_bytes, unpacked_bytes; /* equal: it is not compressed */
};

/* Only `columns` is set; the other members are zero: no rows. Small, for threads with few samples.
 */
struct packed_rows {
	uint32_t columns;
	uint64_t count;
	uint64_t latest_ns;   /* of all rows */
	uint64_t lateness_ns; /* how far a row came behind a later one, at most */
	VEC(struct packed_block) blocks;
	VEC(uint8_t) open; /* the state, then the last block, which is not compressed yet */
};

/* Add a row. Returns 0, -ENOMEM or -EDQUOT (no room); then the rows are unchanged. */
int packed_rows_add(struct packed_rows *rows, struct packed_memory *memory, const uint64_t *values);

/* Returns the rows of the last block. */
struct cursor packed_rows_open(const struct packed_rows *rows);

/*
 * Read the row at *c, and update the state, which is zero before the first row. Returns 0 or
 * -EBADMSG.
 */
int packed_row_read(struct cursor *c, uint32_t columns, uint64_t *state);

void packed_rows_deinit(struct packed_rows *rows);

#endif
