/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tree of the stacks of a recording (uapi/packed_recording.h). Recorder and reader add the same
 * nodes in the same order. The owner calls stack_tree_deinit().
 */
#ifndef JITBPF_DECODE_RECORDING_STACK_TREE_H
#define JITBPF_DECODE_RECORDING_STACK_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "uapi/packed_recording.h"

struct stack_node {
	uint64_t word;	     /* of a frame (enum jitbpf_frame_kind) */
	uint32_t parent;     /* of a root: itself */
	uint32_t last_child; /* the latest one; 0: none */
};

struct stack_tree {
	VEC(struct stack_node) nodes;
	VEC(bool) is_kernel;  /* by node */
	uint64_t kernel_word; /* the latest outermost one of the kernel */
};

/* Remove all nodes but the roots. Returns 0 or -ENOMEM. To be called before the first use. */
int stack_tree_clear(struct stack_tree *tree);
void stack_tree_deinit(struct stack_tree *tree);

static inline bool stack_tree_is_full(const struct stack_tree *tree, size_t more)
{
	return tree->nodes.size + more > JITBPF_NODES_MAX;
}

/*
 * Returns the word from which the difference to a new child is computed. It is that of the
 * parent's latest child, if both are of the same kind. Else it is the parent's; for an outermost
 * kernel frame, that of the latest outermost kernel frame.
 */
uint64_t stack_tree_expected(const struct stack_tree *tree, uint32_t parent, bool is_kernel);

/* Add a node to a tree that is not full. Returns 0 with its number in *ret, or -ENOMEM. */
int stack_tree_add(struct stack_tree *tree, uint32_t parent, uint64_t word, bool is_kernel,
		   uint32_t *ret);

#endif
