/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The layout of one region: its inlined methods and updated ranges, by offset in the region. So
 * a region keeps its layout when it moves.
 *
 * An inlined method is stored as the ranges in which it is the innermost one, with a pointer to its
 * parent. So siblings cannot overlap, and clearing a range clears all levels of inlining.
 */
#ifndef JITBPF_STATE_CODE_CODE_LAYOUT_H
#define JITBPF_STATE_CODE_CODE_LAYOUT_H

#include "state/code/code_region.h"
#include "state/space/cow_range.h"

/* An inlined method, allocated together with its line table and strings. */
struct code_inline {
	struct space_value value;
	struct code_account *account; /* of the reporting process; a reference */
	struct code_inline *parent;   /* a reference; NULL: the region's method, or not known yet */
	uint64_t address, size_bytes; /* as reported; the region may have moved since */
	uint64_t offset;	      /* in its region, when entered */
	struct code_origin origin;
	uint64_t method_id, parent_id;
	uint32_t depth;	  /* 1: inlined into the region's method */
	uint32_t tries;	  /* number of searches for its parent so far */
	uint64_t arrival; /* its number in order of arrival, while it waits for its parent */
	uint64_t name_bytes;
	const char *name, *class_name, *source;
	struct jitbpf_code_line *lines; /* settled when entered */
	uint32_t line_count, line_room;
	bool line_starts; /* line offsets are range starts */
};

/* A range of an update. */
struct code_mark {
	struct space_value value;
	struct code_account *account;
	bool is_data;
};

struct code_layout {
	struct cow_tree inlines;  /* struct code_inline, in ranges where it is the innermost */
	struct cow_tree replaced; /* struct code_mark, where the region's line table is invalid */
	struct cow_tree segments; /* struct code_mark */
};

/* Create an empty layout. Returns 0 or -ENOMEM. */
int code_layout_create(struct code_layout **ret);
void code_layout_destroy(struct code_layout *layout); /* NULL is allowed */

/* Copy a layout; the trees share their nodes. NULL gives NULL. Returns 0 or -ENOMEM. */
int code_layout_copy(struct code_layout *layout, struct code_layout **ret);

static inline void code_inline_put(struct code_inline *inlined)
{
	space_value_put(&inlined->value);
}

static inline void code_mark_put(struct code_mark *mark)
{
	space_value_put(&mark->value);
}

DEFINE_CLEANUP(struct code_inline *, code_inline_put);
DEFINE_CLEANUP(struct code_mark *, code_mark_put);

/* Create the inlined method of an INLINE event. Returns 0, -EDQUOT (over budget) or -ENOMEM. */
int code_inline_create(const struct code_event *event, struct code_account *account,
		       struct code_inline **ret);

/* Returns the bytes of memory of an inlined method, with its lines and strings. */
uint64_t code_inline_bytes(const struct code_inline *inlined);

/* Create the mark of an update. Returns as above. */
int code_mark_create(bool is_data, struct code_account *account, struct code_mark **ret);

/* Returns the innermost inlined method at an offset, or NULL. layout may be NULL. */
const struct code_inline *code_layout_inlined(const struct code_layout *layout, uint64_t offset);

/* Returns true if a segment of data covers the offset. layout may be NULL. */
bool code_layout_is_data(const struct code_layout *layout, uint64_t offset);

#endif
