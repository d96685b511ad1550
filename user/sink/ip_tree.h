/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks of raw addresses, stored as a tree from the outermost address on, so that stacks with the
 * same callers share nodes.
 */
#ifndef JITBPF_SINK_IP_TREE_H
#define JITBPF_SINK_IP_TREE_H

#include <stdint.h>

#include "base/index_map.h"
#include "base/room.h"
#include "base/vec.h"

#define IP_TREE_NONE UINT32_MAX

struct ip_tree_node {
	uint64_t ip;
	uint32_t parent; /* the caller, or IP_TREE_NONE */
	uint32_t recent; /* private to ip_tree_add(): the child that was found last */
};

/* Zero-initialized is empty. */
struct ip_tree {
	VEC(struct ip_tree_node) nodes;
	struct index_map index;
};

#define IP_TREE_NODE_BYTES 64 /* with its places in the index, and while both grow */

/*
 * Find or add a stack, given leaf first. New nodes take room. Returns 0 with its node in *ret
 * (IP_TREE_NONE for an empty stack), -ENOMEM, or -EDQUOT if there is no room.
 */
int ip_tree_add(struct ip_tree *tree, const struct room *room, const uint64_t *addresses,
		uint32_t count, uint32_t *ret);

void ip_tree_deinit(struct ip_tree *tree);

#endif
