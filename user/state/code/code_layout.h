/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is where within one region: the methods that are inlined, and what was
 * updated. The tree of inlined methods is kept as the ranges in which each is the
 * innermost; the way out is by their parents. So siblings cannot overlap, and what
 * is forgotten in a range goes at all levels at once.
 */
#ifndef JITBPF_STATE_CODE_CODE_LAYOUT_H
#define JITBPF_STATE_CODE_CODE_LAYOUT_H

#include "state/code/code_region.h"
#include "state/space/cow_range.h"

/* A method inlined at a place, allocated with its line table and strings. */
struct code_inline {
	struct space_value value;
	struct code_usage *usage;
	struct code_inline *parent; /* NULL: the region's method, or not known yet; held */
	uint64_t address, size_bytes;
	uint64_t sequence;
	uint64_t engine;
	uint32_t method_id, parent_id;
	uint32_t depth; /* 1: inlined into the region's method */
	uint32_t tries; /* to find it a parent, while it waits */
	uint64_t name_bytes;
	const char *name, *class_name, *source;
	struct jitbpf_jit_line *lines; /* settled once it has its place */
	uint32_t line_count, line_room;
};

/* A range that an update spoke of. */
struct code_mark {
	struct space_value value;
	struct code_usage *usage;
	bool is_data;
};

struct code_layout {
	struct cow_tree inlines;  /* struct code_inline: what is innermost there */
	struct cow_tree replaced; /* struct code_mark: the region's line table says nothing there */
	struct cow_tree segments; /* struct code_mark */
};

/* An empty one. Returns 0 or -ENOMEM. */
int code_layout_create(struct code_layout **ret);
void code_layout_destroy(struct code_layout *layout); /* NULL is allowed */

/* A layout with the same, sharing it; NULL where layout is NULL. Returns 0 or -ENOMEM. */
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

/* What an event says is inlined. Returns 0, -EDQUOT (over budget) or -ENOMEM. */
int code_inline_create(const struct jit_event *event, uint64_t engine,
		       const struct code_budget *budget, struct code_usage *usage,
		       struct code_inline **ret);

/* The same for what an update marks. */
int code_mark_create(bool is_data, const struct code_budget *budget, struct code_usage *usage,
		     struct code_mark **ret);

/* The innermost inlined method at an address, or NULL. layout may be NULL. */
const struct code_inline *code_layout_inlined(const struct code_layout *layout, uint64_t address);

/* Does an update say that there are data? layout may be NULL. */
bool code_layout_is_data(const struct code_layout *layout, uint64_t address);

#endif
