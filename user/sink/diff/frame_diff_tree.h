/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tree of a frame_diff while it is built. */
#ifndef JITBPF_SINK_DIFF_FRAME_DIFF_TREE_H
#define JITBPF_SINK_DIFF_FRAME_DIFF_TREE_H

#include "base/item_index.h"
#include "base/vec.h"
#include "sink/diff/frame_diff.h"

/* Empty, without node 0, if zero-initialized. */
struct frame_diff_tree {
	VEC(struct frame_diff_node) nodes; /* parents before their children */
	struct item_index index;
};

/*
 * Find or add the child of node->parent with node->label, and add node's samples to it. A parent of
 * FRAME_TREE_NONE means node 0. Returns 0 with its number in *ret, or -ENOMEM.
 */
int frame_diff_tree_add(struct frame_diff_tree *tree, const struct frame_diff_node *node,
			uint32_t *ret);

/*
 * Sort the nodes: parents before children, siblings by label. compare gets pointers to two label
 * numbers below label_count, and context, as in qsort_r(). Nothing can be added afterwards. Returns
 * 0 or -ENOMEM.
 */
int frame_diff_tree_order(struct frame_diff_tree *tree, size_t label_count,
			  int (*compare)(const void *a, const void *b, void *context),
			  void *context);

void frame_diff_tree_deinit(struct frame_diff_tree *tree);

#endif
