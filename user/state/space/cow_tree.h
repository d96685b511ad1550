/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A balanced tree of address ranges that do not overlap, copy on write. A clone shares the
 * nodes of its original; a change copies the shared nodes on the path to the changed node.
 * The tree is a B+ tree: a process can have a million ranges, and an item in a leaf needs no
 * pointers to others. Untrusted processes choose the addresses, so insertions in any order leave
 * nodes half full, but for the first and the last one of a level; in ascending or descending order
 * they fill leaves. A removal merges a node with a neighbour if both fit into three quarters.
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

/* What a tree of keys holds: the first part of an item. */
struct cow_key {
	uint64_t start;
	struct space_value *value;
};

struct cow_item {
	uint64_t start;
	struct space_value *value;
	uint64_t end;	  /* [start, end), not empty */
	uint64_t from_ns; /* the caller's; not used by the tree */
};

struct cow_node;

struct cow_tree {
	struct cow_node *root;
	size_t size;
	struct cow_pool *pool; /* of its nodes and those of its clones */
	bool shared;	       /* the tree was cloned, so another tree may hold its nodes */
	/*
	 * A tree of keys: of an item, it holds the struct cow_key only. Each range is one address,
	 * and only the key of a result may be read. Set it while the tree is empty; clones and
	 * cow_tree_deinit() keep it.
	 */
	bool keys;
};

/*
 * What an item takes of a large tree that was filled at random: its nodes are 70 % full. In order
 * of addresses, it is 35 and 18 bytes.
 */
#define COW_ITEM_BYTES 50
#define COW_KEY_BYTES  26

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
