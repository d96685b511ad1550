/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile as people look at it: a tree of frames instead of locations, in
 * which what is shown alike under the same parent is one node. Node 0 is
 * everything; its children are the processes or threads, as the view's options
 * have them.
 */
#ifndef JITBPF_SINK_FRAME_TREE_H
#define JITBPF_SINK_FRAME_TREE_H

#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"
#include "sink/frame_text.h"

#define FRAME_TREE_NONE UINT32_MAX

struct frame_tree_node {
	uint32_t parent; /* of node 0: FRAME_TREE_NONE */
	uint32_t label;
	uint32_t first_child, next_sibling; /* in no order that means anything */
	uint64_t self, total;		    /* samples */
	/*
	 * Where most of its samples are: a location and which of its frames.
	 * FRAME_TREE_NONE: nowhere, it is a process or thread.
	 */
	uint32_t location, frame;
	uint64_t location_samples;
};

/* Parents stand before their children. Zero-initialized is empty, without even node 0. */
struct frame_tree {
	VEC(struct frame_tree_node) nodes;
	struct index_map index;
	/*
	 * Nodes at which samples are shown; 0 where there are none. By shown node of
	 * the profile, or, if the view's roots are threads, by index of the count in
	 * shown_profile_counts().
	 */
	uint32_t *places;
};

/*
 * Says what frames and processes are shown as: numbers of its own, the same for
 * what is to be one node. Asked once per location and process or thread. Each
 * returns 0 and sets *ret, or -ENOMEM; strings are good during the call only.
 */
struct frame_labels {
	int (*frame)(void *context, const struct frame_text *frame, uint32_t *ret);
	int (*process)(void *context, const char *name, uint32_t *ret);
	void *context;
};

/*
 * Make the tree of a view's profile; stacks without samples are left out.
 * Returns 0 or -ENOMEM; frame_tree_deinit() is due in both cases.
 */
int frame_tree_build(struct frame_tree *tree, const struct view *view,
		     const struct frame_labels *labels);

void frame_tree_deinit(struct frame_tree *tree);

#endif
