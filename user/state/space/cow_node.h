/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The nodes of a tree, and what is in them. Only for cow_tree.c. */
#ifndef JITBPF_STATE_SPACE_COW_NODE_H
#define JITBPF_STATE_SPACE_COW_NODE_H

#include "state/space/cow_tree.h"

#define ITEMS_MAX 8  /* in a leaf */
#define KEYS_MAX  16 /* in a leaf of a tree of keys */
#define CHILD_MAX 16

/* A child of an inner node, with the lowest start in it. Nodes are not empty. */
struct cow_child {
	uint64_t start;
	struct cow_node *node;
};

/* A leaf has items or keys, an inner node children, by start. */
struct cow_node {
	uint32_t refs;	/* parents and trees that point to it */
	uint16_t level; /* 0: a leaf */
	uint16_t count; /* of its entries */
	union {
		struct cow_item items[ITEMS_MAX];
		struct cow_key keys[KEYS_MAX];
		struct cow_child children[CHILD_MAX];
	};
};

_Static_assert(sizeof(struct cow_node) == COW_CELL_BYTES, "a node is a cell");
_Static_assert(offsetof(struct cow_item, start) == offsetof(struct cow_key, start) &&
		       offsetof(struct cow_item, value) == offsetof(struct cow_key, value),
	       "a key is the first part of an item");

static inline size_t entry_bytes(const struct cow_tree *tree, const struct cow_node *node)
{
	return node->level || tree->keys ? sizeof(struct cow_key) : sizeof(struct cow_item);
}

static inline uint16_t entries_max(const struct cow_tree *tree, const struct cow_node *node)
{
	return node->level || tree->keys ? CHILD_MAX : ITEMS_MAX;
}

_Static_assert(sizeof(struct cow_child) == sizeof(struct cow_key) && KEYS_MAX == CHILD_MAX,
	       "keys and children have the same room");

static inline void *entry_at(const struct cow_tree *tree, const struct cow_node *node, size_t i)
{
	return (char *)node->items + i * entry_bytes(tree, node);
}

static inline const struct cow_item *item_at(const struct cow_tree *tree,
					     const struct cow_node *leaf, size_t i)
{
	return entry_at(tree, leaf, i);
}

static inline uint64_t end_of(const struct cow_tree *tree, const struct cow_item *item)
{
	return tree->keys ? item->start + 1 : item->end;
}

/* Both kinds of entries of both kinds of nodes begin with their start. */
static inline uint64_t start_at(const struct cow_tree *tree, const struct cow_node *node, size_t i)
{
	return *(const uint64_t *)entry_at(tree, node, i);
}

/*
 * Returns the number of entries of a node that start at or below address. All are compared: nodes
 * are small, and a search would wait for each comparison.
 */
static inline size_t entries_until(const struct cow_tree *tree, const struct cow_node *node,
				   uint64_t address)
{
	size_t count = node->count, until = 0;

	if (node->level || tree->keys) {
		for (size_t i = 0; i < count; i++)
			until += node->keys[i].start <= address;
		return until;
	}
	for (size_t i = 0; i < count; i++)
		until += node->items[i].start <= address;
	return until;
}

/* Returns the child in which an item that starts at an address is, or belongs. */
static inline size_t child_for(const struct cow_tree *tree, const struct cow_node *node,
			       uint64_t address)
{
	size_t until = entries_until(tree, node, address);

	return until ? until - 1 : 0;
}

#endif
