/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A balanced tree of address ranges that do not overlap, copy on write. A clone shares the
 * nodes of its original; a change copies the shared nodes on the path to the changed node.
 * The tree is an AVL tree, because untrusted processes choose the addresses.
 *
 * Changes cannot fail: cow_tree_reserve() allocates their memory beforehand. A
 * zero-initialized tree is empty. Single-threaded.
 */
#ifndef JITBPF_STATE_SPACE_COW_TREE_H
#define JITBPF_STATE_SPACE_COW_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state/space/cow_pool.h"
#include "state/space/space_value.h"

struct cow_item {
	uint64_t start, end; /* [start, end), not empty */
	uint64_t from_ns;    /* the caller's; not used by the tree */
	struct space_value *value;
};

struct cow_node;

struct cow_tree {
	struct cow_node *root;
	size_t size;
	struct cow_pool *pool; /* of its nodes and those of its clones */
	bool shared;	       /* the tree was cloned, so another tree may hold its nodes */
};

/*
 * Reserve memory for the next `removals` calls of cow_tree_remove() and `insertions` calls of
 * cow_tree_insert(), in any order. Returns 0 or -ENOMEM.
 */
int cow_tree_reserve(struct cow_tree *tree, size_t removals, size_t insertions);

/* Add an item that overlaps no other. The tree takes over its reference to the value. */
void cow_tree_insert(struct cow_tree *tree, const struct cow_item *item);

/* Remove the item that begins at start; it must exist. The caller owns its reference. */
struct cow_item cow_tree_remove(struct cow_tree *tree, uint64_t start);

/*
 * Returns the item that covers address, else the first item above it, else NULL. Valid until
 * the next change.
 */
const struct cow_item *cow_tree_next(const struct cow_tree *tree, uint64_t address);

/* Returns the last item that starts at or below address, or NULL. Valid until the next change. */
const struct cow_item *cow_tree_last(const struct cow_tree *tree, uint64_t address);

/* Call fn for each item, by address. Stops at the first non-zero result and returns it. */
int cow_tree_for_each(const struct cow_tree *tree,
		      int (*fn)(void *context, const struct cow_item *item), void *context);

/* Returns a tree with the same items, at constant cost. */
struct cow_tree cow_tree_clone(struct cow_tree *tree);

void cow_tree_deinit(struct cow_tree *tree);

#endif
