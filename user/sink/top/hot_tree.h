/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of a tree of frames that has most samples, as rows from the outside in. Of a path
 * without branches, only the first and the last frame have rows of their own.
 */
#ifndef JITBPF_SINK_TOP_HOT_TREE_H
#define JITBPF_SINK_TOP_HOT_TREE_H

#include <stdint.h>

#include "base/vec.h"
#include "sink/top/label_table.h"

struct hot_row {
	uint32_t node;	  /* of the tree */
	uint32_t depth;	  /* of the row; 0: a process */
	uint32_t skipped; /* number of frames that the row replaces; 0: the row is the node */
};

typedef VEC(struct hot_row) hot_rows;

/*
 * Append the nodes with most samples, about `rows` of them (0: all), each with at least 1/share_min
 * of all samples. Siblings are ordered by samples, then by label. Returns 0 or -ENOMEM.
 */
int hot_tree_rows(const struct frame_tree *tree, const struct label_table *labels, uint32_t rows,
		  uint32_t share_min, hot_rows *ret);

/*
 * Get the children of a node with at least `least` samples in that order. Replaces what *ret has.
 * Returns 0 or -ENOMEM.
 */
typedef VEC(uint32_t) tree_children;
int hot_tree_children(const struct frame_tree *tree, const struct label_table *labels,
		      uint32_t node, uint64_t least, tree_children *ret);

#endif
