/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions of a tree of frames: the samples of all nodes with one label. */
#ifndef JITBPF_SINK_TOP_FUNCTION_TABLE_H
#define JITBPF_SINK_TOP_FUNCTION_TABLE_H

#include <stdint.h>

#include "base/vec.h"
#include "sink/hidden_labels.h"
#include "sink/top/label_table.h"

enum function_sort { FUNCTIONS_BY_SELF, FUNCTIONS_BY_TOTAL, FUNCTIONS_BY_NAME };

struct function_count {
	uint32_t label;
	uint64_t self;
	uint64_t total; /* recursion counts once per stack */
};

/* Zero-initialized is empty; the owner calls vec_deinit(). */
typedef VEC(struct function_count) function_table;

/*
 * Count the functions of a tree that was labelled with `labels`, and those of `hidden` (NULL:
 * none). A process is listed for its own samples only, which have no stack. Replaces what the table
 * has. Returns 0 or -ENOMEM.
 */
int function_table_fill(function_table *table, const struct frame_tree *tree,
			const struct label_table *labels, const hidden_labels *hidden);

/* Sort; equal counts by label_table_compare(). */
void function_table_sort(function_table *table, const struct label_table *labels,
			 enum function_sort by);

#endif
