/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes deltas (delta_format.h) of one epoch, each from the state to which the one
 * before leads. The work for a delta is bounded: what does not fit follows in the
 * next one.
 */
#ifndef JITBPF_SINK_LIVE_DELTA_WRITER_H
#define JITBPF_SINK_LIVE_DELTA_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "sink/sink.h"

/* As large as a delta should get: this bounds the time to write one, too. */
#define DELTA_BYTES (512u << 10)

/* Lists that only grow, in the order in which they are sent. */
enum delta_list {
	DELTA_STRINGS,
	DELTA_LOCATIONS,
	DELTA_NODES,
	DELTA_THREADS,
	DELTA_COUNTS,
	DELTA_ROWS,
	DELTA_LIST_COUNT
};

/* A set of numbers. */
struct delta_set {
	VEC(uint64_t) words;
	size_t first; /* the words before are 0 */
};

struct delta_bytes {
	VEC(uint8_t) bytes;
	size_t max_bytes;
	bool failed; /* out of memory */
};

/* Zero-initialized is in state 0. */
struct delta_writer {
	uint32_t state;
	uint32_t sent[DELTA_LIST_COUNT];
	size_t named;		    /* how many of frame_table_named() were sent */
	struct delta_set counted;   /* counts that were sent and have changed since */
	struct delta_set recounted; /* the same of rows */
	uint32_t rows_round;	    /* rows that changed before it are in `recounted` */
	struct delta_bytes out;	    /* the last delta */
};

/* Note that a count of the view's threads has changed. Returns 0 or -ENOMEM. */
int delta_writer_count(struct delta_writer *writer, uint32_t count);

/*
 * Write into writer->out a delta of the view that leads to the state `to`. Returns 1 if
 * it is complete, 0 if more is left, or -ENOMEM; the writer is of no use after that.
 * Items are added until the delta has max_bytes.
 */
int delta_writer_next(struct delta_writer *writer, const struct view *view, uint64_t time_ns,
		      uint32_t to, size_t max_bytes);

/* Give the state to which the last delta leads another number. */
void delta_writer_rename(struct delta_writer *writer, uint32_t to);

void delta_writer_deinit(struct delta_writer *writer);

#endif
