/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The data of the flame graph page (user/sink/page/): a tree of nodes with labels and source lines,
 * and samples by node and group. A group is a thread or, in a difference, a side. Slices are the
 * same samples by time.
 *
 * Nodes are added in any order with parents before children, and written in order of names, so that
 * equal profiles give equal pages. Numbers are written as columns, which a browser reads faster
 * than JSON: 1,000,000 nodes take 7 MB and appear in half a second.
 */
#ifndef JITBPF_SINK_FORMAT_PAGE_DATA_H
#define JITBPF_SINK_FORMAT_PAGE_DATA_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/vec.h"
#include "locate/code_kinds.h"
#include "profile/time_slices.h"
#include "sink/frame_text.h"
#include "sink/format/page_lives.h"
#include "sink/write/row_table.h"
#include "sink/sink.h"

#define PAGE_NONE UINT32_MAX

/* Kinds of frames, as in page/kinds.ts: those of enum frame_kind, and a bit for inlined ones. */
enum page_kind {
	PAGE_PROCESS = 127,
	PAGE_INLINED = 128,
};

struct page_label {
	uint32_t name, module; /* strings */
	uint32_t kind;
	uint32_t tier;	   /* enum code_tier */
	uint32_t function; /* row; labels of one function are counted together */
};

struct page_function {
	uint32_t name, module, file; /* strings */
	uint32_t kind;
};

struct page_source {
	uint32_t file; /* string; 0: not known */
	uint32_t line;
};

struct page_thread {
	uint32_t pid, tid;
	uint32_t comm;	    /* string */
	uint32_t container; /* string: cgroup_text() */
};

struct page_node {
	uint32_t parent; /* PAGE_NONE for node 0, the root */
	uint32_t label, source;
};

struct page_count {
	uint32_t node, group;
	uint64_t samples;
};

/* What a function has as TOTAL beside the tree (sink/hidden_labels.h). */
struct page_hidden {
	uint32_t label;
	uint32_t side; /* of a difference; else 0 */
	uint64_t samples;
};

/* The samples of an event. */
struct page_samples {
	VEC(struct page_node) nodes;
	VEC(struct page_count) counts; /* several counts of a node and group are added up */
	VEC(struct page_thread) threads;
	VEC(struct page_hidden) hidden;
	const struct time_slices *slices; /* borrowed; NULL: none, as in a difference */
	VEC(uint32_t) slice_counts; /* by count of the slices: index in `counts`; empty: the same */
};

struct page_data {
	struct string_pool *strings;
	uint32_t string_count;
	struct row_table labels;    /* of struct page_label; number 0 is "all" */
	struct row_table functions; /* of struct page_function */
	struct row_table sources;   /* of struct page_source; number 0 is none */
	struct page_lives lives;    /* in a difference there are none */
	/* By number of the event; in a difference, [0] only. */
	struct page_samples samples[JITBPF_EVENTS_MAX];
};

/*
 * Functions return 0 or -ENOMEM. After page_data_init(), even if it fails, the caller calls
 * page_data_deinit().
 */
int page_data_init(struct page_data *page);
int page_data_string(struct page_data *page, const char *s, uint32_t *ret); /* find or add */
/* exact: the inlined code of a function is a function of its own (view_is_exact()). */
int page_data_frame(struct page_data *page, const struct frame_text *frame, bool exact,
		    uint32_t *ret);
int page_data_process(struct page_data *page, const char *name, uint32_t *ret);
int page_data_source(struct page_data *page, const char *file, uint32_t line, uint32_t *ret);
int page_data_thread(struct page_data *page, struct page_samples *samples,
		     const struct page_thread *ids, const char *comm, const char *container);

void page_data_deinit(struct page_data *page);

uint32_t page_data_kind(enum frame_kind kind, bool inlined);

/* Returns the view of another event, with options and packages as in `view`. */
struct view page_view_of(const struct view *view, uint32_t event);

/*
 * Write the page. With one view, groups are its threads, and there are samples of all of its
 * events; the page shows that of the view first. With two, the page shows a difference, and
 * the groups are 0 (before) and 1 (after). Returns 0, -ENOMEM or the error of out.
 */
int page_data_write(const struct page_data *page, FILE *out, const struct view *const views[],
		    uint32_t view_count);

#endif
