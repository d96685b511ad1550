/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks of raw addresses, kept for as long as a run: a tree from the outermost
 * address on, in which stacks share what they have in common.
 */
#ifndef JITBPF_SINK_IP_TREE_H
#define JITBPF_SINK_IP_TREE_H

#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"

#define IP_TREE_NONE UINT32_MAX

struct ip_tree_node {
	uint64_t ip;
	uint32_t parent; /* towards the root, or IP_TREE_NONE */
	uint32_t recent; /* ip_tree_add()'s own: the child that it found last */
};

/* Zero-initialized is empty. */
struct ip_tree {
	VEC(struct ip_tree_node) nodes;
	struct index_map index;
};

/*
 * The node of a stack, leaf first; IP_TREE_NONE for an empty one. Returns 0 and
 * sets *ret, or -ENOMEM.
 */
int ip_tree_add(struct ip_tree *tree, const uint64_t *ips, uint32_t count, uint32_t *ret);

void ip_tree_deinit(struct ip_tree *tree);

#endif
