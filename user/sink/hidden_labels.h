/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What tables of functions add to the TOTAL of a tree of frames: view.hidden, by the labels of the
 * tree (frame_tree.h).
 */
#ifndef JITBPF_SINK_HIDDEN_LABELS_H
#define JITBPF_SINK_HIDDEN_LABELS_H

#include "base/vec.h"
#include "sink/frame_tree.h"

struct hidden_label {
	uint32_t label;
	uint64_t samples;
};

typedef VEC(struct hidden_label) hidden_labels; /* zero-initialized is empty */

/*
 * Append the samples of functions, and their labels to those of the view's tree. Nothing is
 * appended for an exact view, or one that shows interpreters: both have functions of their own.
 * Returns 0 or -ENOMEM.
 */
int hidden_labels_add(const struct view *view, const struct frame_labels *labels,
		      hidden_labels *ret);

#endif
