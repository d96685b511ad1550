/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A balanced tree of address ranges that do not overlap, copy on write: trees
 * that were cloned share their nodes, and a change copies only the shared nodes
 * on its way. Balanced as an AVL tree, since the addresses are a stranger's.
 *
 * Changes cannot fail: cow_tree_reserve() takes the memory for them beforehand.
 * Zero-initialized is empty. Single-threaded.
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
	uint64_t from_ns;    /* the tree does not look at it */
	struct space_value *value;
};

struct cow_node;

struct cow_tree {
	struct cow_node *root;
	size_t size;
	struct cow_pool *pool; /* where its nodes are, and those of its clones */
	bool shared;	       /* was cloned: others may hold its nodes */
};

/*
 * Make sure that the next `removals` calls of cow_tree_remove() and `insertions`
 * of cow_tree_insert(), in any order, find memory. Returns 0 or -ENOMEM.
 */
int cow_tree_reserve(struct cow_tree *tree, size_t removals, size_t insertions);

/* Add an item that overlaps none; takes over its reference to the value. */
void cow_tree_insert(struct cow_tree *tree, const struct cow_item *item);

/* Take out the item that begins at start, which must be there, with its reference. */
struct cow_item cow_tree_remove(struct cow_tree *tree, uint64_t start);

/*
 * The item of the lowest address that ends above address: the one that covers
 * it, or the first behind it. NULL if none. Good until the next change.
 */
const struct cow_item *cow_tree_next(const struct cow_tree *tree, uint64_t address);

/* The item of the highest start that is not above address, or NULL. Good until the next change. */
const struct cow_item *cow_tree_last(const struct cow_tree *tree, uint64_t address);

/* Call fn for each item, by address. Stops at and returns the first non-zero. */
int cow_tree_for_each(const struct cow_tree *tree,
		      int (*fn)(void *context, const struct cow_item *item), void *context);

/* A tree with the same items, at constant cost. */
struct cow_tree cow_tree_clone(struct cow_tree *tree);

void cow_tree_deinit(struct cow_tree *tree);

#endif
