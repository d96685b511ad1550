/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples aggregated as a tree of locations per process. A node represents the
 * path from the root of its process, so a node number identifies a whole stack.
 */
#ifndef JITBPF_PROFILE_PROFILE_H
#define JITBPF_PROFILE_PROFILE_H

#include <stdint.h>

#include "base/item_index.h"
#include "base/room.h"
#include "base/vec.h"

#define PROFILE_NODE_NONE UINT32_MAX

struct profile_node {
	uint32_t parent;   /* node number; PROFILE_NODE_NONE for the root of a process */
	uint32_t location; /* location number; in a root, the process number */
	uint64_t self;	   /* sum of the samples with this node as leaf */
};

_Static_assert(sizeof(struct profile_node) == 16, "there may be millions");

struct profile_root {
	uint32_t node;
	uint32_t comm; /* string number of the process name */
};

/* Zero-initialized is empty. Parents come before their children. */
struct profile {
	VEC(struct profile_node) nodes;
	VEC(struct profile_root) roots; /* in the order of their nodes */
	struct item_index index;	/* of the nodes */
	/* The child of a node that was found last, by node number modulo PROFILE_RECENT. */
	uint32_t *recent;
	struct room room; /* PROFILE_NODE_BYTES for a new node */
};

#define PROFILE_NODE_BYTES (sizeof(struct profile_node) + ITEM_INDEX_BYTES)

#define PROFILE_NO_LOCATION UINT32_MAX /* instead of the number, for a frame without a location */

/*
 * Find or add the node of a stack: locations leaf first, of a process with a
 * name. An empty stack is the root. Returns 0 and sets *ret, or -ENOMEM; in
 * that case outer nodes without samples may have been added.
 *
 * If there is no room for the whole path, or at a PROFILE_NO_LOCATION, the innermost locations are
 * left out. Then returns the number of these, with *ret the node of the other locations; or -EDQUOT
 * if there is no room for the root.
 */
int profile_node_of(struct profile *profile, uint32_t process, uint32_t comm,
		    const uint32_t *locations, uint32_t count, uint32_t *ret);

/* Find or add a child of a node. Returns 0 and sets *ret, or -ENOMEM or -EDQUOT (no room). */
int profile_child_of(struct profile *profile, uint32_t node, uint32_t location, uint32_t *ret);

/* Returns the name of the process of a root: a string number. */
uint32_t profile_comm(const struct profile *profile, uint32_t root);

/* Add a root that the profile does not have, to a profile without an index. Returns 0 or -ENOMEM.
 */
int profile_push_root(struct profile *profile, uint32_t process, uint32_t comm);

/* Count samples, or the weight of a sample, at a node. */
static inline void profile_count(struct profile *profile, uint32_t node, uint64_t samples)
{
	profile->nodes.data[node].self += samples;
}

/* Free what only finds and adds nodes. Then the profile can only be read. */
void profile_close(struct profile *profile);

void profile_deinit(struct profile *profile);

#endif
