/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile as a tree of frames instead of locations. Frames with the same label below the same
 * parent are one node. Node 0 is the root; its children are processes or threads, by the view's
 * options.
 */
#ifndef JITBPF_SINK_FRAME_TREE_H
#define JITBPF_SINK_FRAME_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "sink/frame_text.h"

#define FRAME_TREE_NONE UINT32_MAX

struct frame_tree_node {
	uint32_t parent; /* FRAME_TREE_NONE for node 0 */
	uint32_t label;
	uint32_t first_child, next_sibling; /* unordered */
	uint64_t self, total;		    /* samples */
};

_Static_assert(sizeof(struct frame_tree_node) == 32, "there may be millions");

/*
 * The location with most samples of a node, and the frame in it. FRAME_TREE_NONE for a process or
 * thread.
 */
struct frame_tree_source {
	uint32_t location, frame;
	uint64_t samples;
};

/* Parents come before their children. Empty, without node 0, if zero-initialized. */
struct frame_tree {
	VEC(struct frame_tree_node) nodes;
	bool keeps_sources; /* set before the tree is built: it gets the next two members */
	VEC(struct frame_tree_source) sources; /* by node */
	/*
	 * The tree node of samples; 0 if there are none. Indexed by shown node of the profile;
	 * or, if view_by_thread() is true, by index in shown_profile_counts().
	 */
	uint32_t *places;
};

/*
 * Maps frames and processes to labels. Frames with equal labels form one node. Called once per
 * frame of a location, and per process or thread. Functions return 0 with *ret set, or -ENOMEM.
 * Strings are valid during the call only.
 */
struct frame_labels {
	int (*frame)(void *context, const struct frame_text *frame, uint32_t *ret);
	int (*process)(void *context, const char *name, uint32_t *ret);
	void *context;
};

/*
 * Build the tree of a view's profile, without stacks that have no samples. Returns 0 or -ENOMEM;
 * the caller calls frame_tree_deinit() in both cases.
 */
int frame_tree_build(struct frame_tree *tree, const struct view *view,
		     const struct frame_labels *labels);

void frame_tree_deinit(struct frame_tree *tree);

#endif
