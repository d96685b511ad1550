/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the deltas (delta_format.h) of one epoch, each from the end state of the previous
 * one. The work for a delta is bounded: the next one has the rest.
 */
#ifndef JITBPF_SINK_LIVE_DELTA_WRITER_H
#define JITBPF_SINK_LIVE_DELTA_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "sink/live/delta_items.h"

/* Usual limit of a delta, which also bounds the time to write one. */
#define DELTA_BYTES (512u << 10)

/* A set of numbers. */
struct delta_set {
	VEC(uint64_t) words;
	size_t first; /* lower words are 0 */
};

/* What was sent of the samples of an event. */
struct delta_samples_sent {
	uint32_t sent[DELTA_LIST_COUNT]; /* of strings and locations, and of rows: of event 0 */
	struct delta_set counted;	 /* sent counts that have changed since */
	/* Sent rows that have changed since; of further events, all rows that have changed. */
	struct delta_set recounted;
	uint32_t rows_round; /* rows that changed before this round are in `recounted` */
	uint64_t sliced;     /* slices that were sent, and those that folding has removed */
	uint32_t folds;	     /* of the slices, when they were sent */
};

/* In state 0 if zero-initialized. */
struct delta_writer {
	uint32_t state;
	size_t named; /* number of entries of frame_table_named() that were sent */
	struct delta_samples_sent events[JITBPF_EVENTS_MAX];
	uint32_t lane_version, lane_shift; /* of the lane, when it was sent */
	struct delta_bytes out;		   /* the last delta */
};

/*
 * Note that a count of the threads of view->event has changed. Returns 0 or -ENOMEM.
 */
int delta_writer_count(struct delta_writer *writer, uint32_t event, uint32_t count);

/*
 * Write a delta of the view, and of view->by_event, which leads to the state `to`, into
 * writer->out. Items are added until it has max_bytes. Returns 1 if it is complete, 0 if more is
 * left, or -ENOMEM, after which the writer cannot be used.
 */
int delta_writer_next(struct delta_writer *writer, const struct view *view, uint64_t time_ns,
		      uint32_t to, size_t max_bytes);

/* Change the number of the end state of the last delta. */
void delta_writer_rename(struct delta_writer *writer, uint32_t to);

void delta_writer_deinit(struct delta_writer *writer);

#endif
