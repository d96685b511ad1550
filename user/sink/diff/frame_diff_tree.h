/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tree of a frame_diff while it is being put together. */
#ifndef JITBPF_SINK_DIFF_FRAME_DIFF_TREE_H
#define JITBPF_SINK_DIFF_FRAME_DIFF_TREE_H

#include "base/index_map.h"
#include "base/vec.h"
#include "sink/diff/frame_diff.h"

/* Zero-initialized is empty, without even node 0. */
struct frame_diff_tree {
	VEC(struct frame_diff_node) nodes; /* parents before their children */
	struct index_map index;
};

/*
 * The child of parent with this label (FRAME_TREE_NONE: node 0), made where there
 * is none; samples are added to what it has. Returns 0 and sets *ret, or -ENOMEM.
 */
int frame_diff_tree_add(struct frame_diff_tree *tree, const struct frame_diff_node *node,
			uint32_t *ret);

/*
 * Put the nodes in the order of a walk, siblings in the order of their labels. Labels are the
 * numbers below label_count; compare gets pointers to two of them, and context, as in qsort_r().
 * Nothing can be added after it. Returns 0 or -ENOMEM.
 */
int frame_diff_tree_order(struct frame_diff_tree *tree, size_t label_count,
			  int (*compare)(const void *a, const void *b, void *context),
			  void *context);

void frame_diff_tree_deinit(struct frame_diff_tree *tree);

#endif
