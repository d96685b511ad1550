/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/space/cow_tree.h"

#include <errno.h>
#include <stdlib.h>

struct cow_node {
	struct cow_item item;
	struct cow_node *left, *right;
	uint32_t refs;	 /* parents and trees that point to it */
	uint32_t height; /* 1: a leaf */
};

_Static_assert(sizeof(struct cow_node) == COW_CELL_BYTES, "a node is a cell");

static uint32_t height(const struct cow_node *node)
{
	return node ? node->height : 0;
}

static void measure(struct cow_node *node)
{
	uint32_t left = height(node->left), right = height(node->right);

	node->height = 1 + (left > right ? left : right);
}

/* Returns the node if it has no other holder; else a copy, which replaces it in this tree. */
static struct cow_node *own(struct cow_tree *tree, struct cow_node *node)
{
	struct cow_node *copy;

	if (node->refs == 1)
		return node;
	copy = cow_pool_take(tree->pool);
	*copy = *node;
	copy->refs = 1;
	space_value_get(copy->item.value);
	if (copy->left)
		copy->left->refs++;
	if (copy->right)
		copy->right->refs++;
	node->refs--;
	return copy;
}

static void node_put(struct cow_pool *pool, struct cow_node *node)
{
	while (node && !--node->refs) {
		struct cow_node *right = node->right;

		node_put(pool, node->left);
		space_value_put(node->item.value);
		cow_pool_give(pool, node);
		node = right;
	}
}

/* Rotations need a node that is not shared. They copy the child that rises if it is shared. */
static struct cow_node *rotate_right(struct cow_tree *tree, struct cow_node *node)
{
	struct cow_node *up = own(tree, node->left);

	node->left = up->right;
	up->right = node;
	measure(node);
	measure(up);
	return up;
}

static struct cow_node *rotate_left(struct cow_tree *tree, struct cow_node *node)
{
	struct cow_node *up = own(tree, node->right);

	node->right = up->left;
	up->left = node;
	measure(node);
	measure(up);
	return up;
}

/* Restore the balance of an unshared node after the height of a child has changed. */
static struct cow_node *balance(struct cow_tree *tree, struct cow_node *node)
{
	uint32_t left = height(node->left), right = height(node->right);

	if (left > right + 1) {
		if (height(node->left->left) < height(node->left->right)) {
			node->left = own(tree, node->left);
			node->left = rotate_left(tree, node->left);
		}
		return rotate_right(tree, node);
	}
	if (right > left + 1) {
		if (height(node->right->right) < height(node->right->left)) {
			node->right = own(tree, node->right);
			node->right = rotate_right(tree, node->right);
		}
		return rotate_left(tree, node);
	}
	measure(node);
	return node;
}

static struct cow_node *insert(struct cow_tree *tree, struct cow_node *node,
			       const struct cow_item *item)
{
	struct cow_node **child;
	uint32_t before;

	if (!node) {
		node = cow_pool_take(tree->pool);
		*node = (struct cow_node){.item = *item, .refs = 1, .height = 1};
		return node;
	}
	node = own(tree, node);
	child = item->start < node->item.start ? &node->left : &node->right;
	before = height(*child);
	*child = insert(tree, *child, item);
	/* If the height is the same, siblings need not be loaded into the cache. */
	return (*child)->height == before ? node : balance(tree, node);
}

/* Remove the lowest node of a subtree. The caller owns it, unshared. */
static struct cow_node *take_lowest(struct cow_tree *tree, struct cow_node *node,
				    struct cow_node **ret)
{
	uint32_t before;

	node = own(tree, node);
	if (!node->left) {
		*ret = node;
		return node->right;
	}
	before = height(node->left);
	node->left = take_lowest(tree, node->left, ret);
	return height(node->left) == before ? node : balance(tree, node);
}

static struct cow_node *take(struct cow_tree *tree, struct cow_node *node, uint64_t start,
			     struct cow_item *ret)
{
	struct cow_node *heir;
	uint32_t before;

	node = own(tree, node);
	if (start != node->item.start) {
		struct cow_node **child = start < node->item.start ? &node->left : &node->right;

		before = height(*child);
		*child = take(tree, *child, start, ret);
		return height(*child) == before ? node : balance(tree, node);
	}
	*ret = node->item;
	if (!node->left || !node->right) {
		heir = node->left ? node->left : node->right;
	} else {
		struct cow_node *right = take_lowest(tree, node->right, &heir);

		heir->left = node->left;
		heir->right = right;
		heir = balance(tree, heir);
	}
	cow_pool_give(tree->pool, node);
	return heir;
}

/* The greatest height of an AVL tree of size nodes: 1.44 log2(size + 2), rounded up. */
static size_t height_limit(size_t size)
{
	size_t bits = 64 - (size_t)__builtin_clzll((unsigned long long)size + 2);

	return bits + bits / 2;
}

/*
 * In a tree that was cloned, a change copies the shared nodes on its path, and up to two more
 * at each level to restore the balance. A copy is not shared, so no node is copied twice, and
 * any number of changes copies no more than all nodes.
 */
static size_t nodes_wanted(const struct cow_tree *tree, size_t removals, size_t insertions)
{
	size_t all = tree->size + insertions;
	size_t each = 3 * height_limit(all) + 1, changes = removals + insertions;

	if (!tree->shared)
		return insertions;
	return changes < all / each ? changes * each : all;
}

int cow_tree_reserve(struct cow_tree *tree, size_t removals, size_t insertions)
{
	if (!tree->pool)
		tree->pool = cow_pool_create();
	if (!tree->pool)
		return -ENOMEM;
	return cow_pool_reserve(tree->pool, nodes_wanted(tree, removals, insertions));
}

void cow_tree_insert(struct cow_tree *tree, const struct cow_item *item)
{
	tree->root = insert(tree, tree->root, item);
	tree->size++;
}

struct cow_item cow_tree_remove(struct cow_tree *tree, uint64_t start)
{
	struct cow_item item;

	tree->root = take(tree, tree->root, start, &item);
	tree->size--;
	return item;
}

const struct cow_item *cow_tree_next(const struct cow_tree *tree, uint64_t address)
{
	const struct cow_item *best = NULL;

	/* The items do not overlap, so their ends ascend as well. */
	for (const struct cow_node *node = tree->root; node;) {
		if (node->item.end > address) {
			best = &node->item;
			node = node->left;
		} else {
			node = node->right;
		}
	}
	return best;
}

const struct cow_item *cow_tree_last(const struct cow_tree *tree, uint64_t address)
{
	const struct cow_item *best = NULL;

	for (const struct cow_node *node = tree->root; node;) {
		if (node->item.start <= address) {
			best = &node->item;
			node = node->right;
		} else {
			node = node->left;
		}
	}
	return best;
}

static int each(const struct cow_node *node, int (*fn)(void *, const struct cow_item *),
		void *context)
{
	for (; node; node = node->right) {
		int err = each(node->left, fn, context);

		if (!err)
			err = fn(context, &node->item);
		if (err)
			return err;
	}
	return 0;
}

int cow_tree_for_each(const struct cow_tree *tree,
		      int (*fn)(void *context, const struct cow_item *item), void *context)
{
	return each(tree->root, fn, context);
}

struct cow_tree cow_tree_clone(struct cow_tree *tree)
{
	if (!tree->root)
		return (struct cow_tree){0};
	tree->shared = true;
	tree->root->refs++;
	tree->pool->refs++;
	return *tree;
}

void cow_tree_deinit(struct cow_tree *tree)
{
	node_put(tree->pool, tree->root);
	cow_pool_put(tree->pool);
	*tree = (struct cow_tree){0};
}
