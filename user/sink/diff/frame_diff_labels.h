/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The labels of a difference, while it is made: which are one function, and what tells them apart.
 */
#ifndef JITBPF_SINK_DIFF_FRAME_DIFF_LABELS_H
#define JITBPF_SINK_DIFF_FRAME_DIFF_LABELS_H

#include <string.h>

#include "base/string_pool.h"
#include "sink/diff/frame_diff.h"
#include "sink/diff/frame_diff_tree.h"
#include "sink/write/row_table.h"
#include "sink/write/text.h"

/* The key of a label: labels with equal keys are one function. Members are string numbers. */
struct label_key {
	uint32_t name;
	uint32_t module; /* file name of the module */
	uint32_t file;	 /* 0 if it does not tell the function apart */
	uint32_t kind;	 /* 2 * kind; in an exact view, plus 1 if inlined */
};

struct frame_diff {
	struct string_pool *strings;
	struct row_table keys;	   /* of struct label_key; row numbers are label numbers */
	VEC(uint8_t) sides;	   /* by label: a bit for each side that has it */
	enum frame_diff_side side; /* whose labels are added */
	VEC(struct frame_diff_label) labels;
	hidden_labels hidden[DIFF_SIDES]; /* by final label */
	struct frame_diff_tree tree;
	bool strip_hex, exact;
	struct text scratch;
};

static inline int frame_diff_keep(struct frame_diff *diff, const char *s, uint32_t *ret)
{
	return string_pool_add(diff->strings, s, strlen(s), ret);
}

/*
 * Replace the labels of functions that two runs or builds number differently by one each. Sets
 * final[] to the new number of each label. Returns 0 or -ENOMEM.
 */
int frame_diff_fold(struct frame_diff *diff, uint32_t *final);

/* Add to names the files that tell functions apart: "f of a.c". Returns 0 or -ENOMEM. */
int frame_diff_add_files(struct frame_diff *diff);

#endif
