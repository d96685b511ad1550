/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples aggregated as a tree of locations per process. A node is the path
 * from its process's root to it, so that its number stands for a whole stack.
 */
#ifndef JITBPF_PROFILE_PROFILE_H
#define JITBPF_PROFILE_PROFILE_H

#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"

#define PROFILE_NODE_NONE UINT32_MAX

struct profile_node {
	uint32_t parent;   /* node, or PROFILE_NODE_NONE for a process's root */
	uint32_t location; /* number; of a root: the process's */
	uint32_t comm;	   /* process name: number in the string pool; in all nodes of a root */
	uint32_t recent;   /* profile_node_of()'s own: the child that it found last */
	uint64_t self;	   /* samples whose leaf this is */
};

/* Zero-initialized is empty. Parents stand before their children. */
struct profile {
	VEC(struct profile_node) nodes;
	struct index_map index;
};

/*
 * The node of a stack: locations leaf first, of a process under the name it
 * had. Returns 0 and sets *ret, or -ENOMEM (outer nodes of the stack may have
 * been added then, with no samples). An empty stack is the root.
 */
int profile_node_of(struct profile *profile, uint32_t process, uint32_t comm,
		    const uint32_t *locations, uint32_t count, uint32_t *ret);

/* Count a sample at a node. */
static inline void profile_count(struct profile *profile, uint32_t node)
{
	profile->nodes.data[node].self++;
}

void profile_deinit(struct profile *profile);

#endif
