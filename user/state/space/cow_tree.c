/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/space/cow_tree.h"

#include <errno.h>
#include <string.h>

#include "state/space/cow_node.h"

/* --- nodes that trees share ----------------------------------------------------------- */

static void get_entries(const struct cow_tree *tree, struct cow_node *node)
{
	for (size_t i = 0; i < node->count; i++) {
		if (node->level)
			node->children[i].node->refs++;
		else if (item_at(tree, node, i)->value)
			space_value_get(item_at(tree, node, i)->value);
	}
}

/* Replace the node at *at by a copy if it has another holder. Returns the node at *at. */
static struct cow_node *own(struct cow_tree *tree, struct cow_node **at)
{
	struct cow_node *node = *at, *copy;

	if (node->refs == 1)
		return node;
	copy = cow_pool_take(tree->pool);
	*copy = *node;
	copy->refs = 1;
	get_entries(tree, copy);
	node->refs--;
	return *at = copy;
}

static void node_put(const struct cow_tree *tree, struct cow_node *node)
{
	if (!node || --node->refs)
		return;
	for (size_t i = 0; i < node->count; i++) {
		if (node->level)
			node_put(tree, node->children[i].node);
		else
			space_value_put(item_at(tree, node, i)->value);
	}
	cow_pool_give(tree->pool, node);
}

/* --- insertion ------------------------------------------------------------------------ */

static struct cow_node *node_create(struct cow_tree *tree, uint16_t level)
{
	struct cow_node *node = cow_pool_take(tree->pool);

	node->refs = 1;
	node->level = level;
	node->count = 0;
	return node;
}

/* Move the entries of a node from `from` on to the end of another one of that level. */
static void move_entries(const struct cow_tree *tree, struct cow_node *node, size_t from,
			 struct cow_node *to)
{
	size_t count = node->count - from;

	memcpy(entry_at(tree, to, to->count), entry_at(tree, node, from),
	       count * entry_bytes(tree, node));
	to->count += (uint16_t)count;
	node->count = (uint16_t)from;
}

static void put_entry(const struct cow_tree *tree, struct cow_node *node, size_t i,
		      const void *entry)
{
	size_t bytes = entry_bytes(tree, node);
	char *at = entry_at(tree, node, i);

	memmove(at + bytes, at, (node->count - i) * bytes);
	memcpy(at, entry, bytes);
	node->count++;
}

/* A node on the path of an insertion, and whether it is the first or last one of its level. */
struct cow_place {
	struct cow_node *node; /* not shared */
	bool first, last;
};

/*
 * Put an entry before entry i of a node. Returns NULL, or a new node, which follows that one, if
 * there was no room. Entries that come in order leave full nodes behind.
 */
static struct cow_node *put_or_split(struct cow_tree *tree, const struct cow_place *place, size_t i,
				     const void *entry)
{
	struct cow_node *node = place->node, *right;
	size_t count = node->count, cut = count / 2;

	if (count < entries_max(tree, node)) {
		put_entry(tree, node, i, entry);
		return NULL;
	}
	if (place->last && i == count)
		cut = count;
	else if (place->first && !i)
		cut = 0;
	right = node_create(tree, node->level);
	move_entries(tree, node, cut, right);
	if (i <= cut && cut < count)
		put_entry(tree, node, i, entry);
	else
		put_entry(tree, right, i - cut, entry);
	return right;
}

static struct cow_node *insert(struct cow_tree *tree, const struct cow_place *place,
			       const struct cow_item *item)
{
	struct cow_node *node = place->node, *right;
	struct cow_child added;
	struct cow_place below;
	size_t i;

	if (!node->level)
		return put_or_split(tree, place, entries_until(tree, node, item->start), item);
	i = child_for(tree, node, item->start);
	below = (struct cow_place){.node = own(tree, &node->children[i].node),
				   .first = place->first && !i,
				   .last = place->last && i + 1 == node->count};
	right = insert(tree, &below, item);
	node->children[i].start = start_at(tree, below.node, 0);
	if (!right)
		return NULL;
	added = (struct cow_child){start_at(tree, right, 0), right};
	return put_or_split(tree, place, i + 1, &added);
}

void cow_tree_insert(struct cow_tree *tree, const struct cow_item *item)
{
	struct cow_place place = {.first = true, .last = true};
	struct cow_node *right, *root;

	if (!tree->root)
		tree->root = node_create(tree, 0);
	place.node = own(tree, &tree->root);
	right = insert(tree, &place, item);
	tree->size++;
	if (!right)
		return;
	root = node_create(tree, place.node->level + 1);
	root->children[0] = (struct cow_child){start_at(tree, place.node, 0), place.node};
	root->children[1] = (struct cow_child){start_at(tree, right, 0), right};
	root->count = 2;
	tree->root = root;
}

/* --- removal -------------------------------------------------------------------------- */

static void drop_entry(const struct cow_tree *tree, struct cow_node *node, size_t i)
{
	size_t bytes = entry_bytes(tree, node);
	char *at = entry_at(tree, node, i);

	node->count--;
	memmove(at, at + bytes, (node->count - i) * bytes);
}

/* Merge child i + 1 of a node into child i, if they fit into one with some room. */
static bool merge(struct cow_tree *tree, struct cow_node *node, size_t i)
{
	struct cow_node *left = node->children[i].node, *right = node->children[i + 1].node;

	if (left->count + right->count > entries_max(tree, left) * 3 / 4)
		return false;
	left = own(tree, &node->children[i].node);
	right = own(tree, &node->children[i + 1].node);
	move_entries(tree, right, 0, left);
	cow_pool_give(tree->pool, right);
	drop_entry(tree, node, i + 1);
	return true;
}

/* After a removal from child i, which is not shared. */
static void settle_child(struct cow_tree *tree, struct cow_node *node, size_t i)
{
	struct cow_node *child = node->children[i].node;

	if (!child->count) {
		cow_pool_give(tree->pool, child);
		drop_entry(tree, node, i);
		return;
	}
	node->children[i].start = start_at(tree, child, 0);
	if (child->count >= entries_max(tree, child) / 2 || (i && merge(tree, node, i - 1)))
		return;
	if (i + 1 < node->count)
		merge(tree, node, i);
}

static struct cow_item take(struct cow_tree *tree, struct cow_node *node, uint64_t start)
{
	struct cow_item item = {0};
	size_t i = child_for(tree, node, start);

	if (node->level) {
		item = take(tree, own(tree, &node->children[i].node), start);
		settle_child(tree, node, i);
		return item;
	}
	memcpy(&item, item_at(tree, node, i), entry_bytes(tree, node));
	item.end = end_of(tree, &item);
	drop_entry(tree, node, i);
	return item;
}

/* Replace the root by its only child, or by nothing. */
static void drop_root(struct cow_tree *tree)
{
	struct cow_node *root = tree->root, *child = root->count ? root->children[0].node : NULL;

	tree->root = child;
	if (--root->refs)
		child->refs++;
	else
		cow_pool_give(tree->pool, root);
}

struct cow_item cow_tree_remove(struct cow_tree *tree, uint64_t start)
{
	struct cow_item item = take(tree, own(tree, &tree->root), start);

	tree->size--;
	while (tree->root && tree->root->count < (tree->root->level ? 2 : 1))
		drop_root(tree);
	return item;
}

/* --- memory --------------------------------------------------------------------------- */

/*
 * An insertion can split a node at each level, and the root. In a tree that was cloned, a change
 * copies the shared nodes on its path, and a removal a neighbour at each level, too. A copy is not
 * shared, so no node is copied twice, and any number of changes copies no more than all nodes.
 */
static size_t nodes_wanted(const struct cow_tree *tree, size_t removals, size_t insertions)
{
	const struct cow_node *root = tree->root;
	size_t levels = root ? root->level + 1u : 0, copies, used;
	size_t room = levels > 1 ? 0 : (tree->keys ? KEYS_MAX : ITEMS_MAX);
	size_t wanted = insertions * (levels + 1);

	if (levels == 1)
		room -= root->count;
	if (insertions && insertions <= room)
		wanted = !root; /* the first leaf */
	if (!tree->shared)
		return wanted;
	copies = (removals + insertions) * 2 * levels;
	used = tree->pool->cells - tree->pool->free_count;
	return wanted + (copies < used ? copies : used);
}

int cow_tree_reserve(struct cow_tree *tree, size_t removals, size_t insertions)
{
	if (!tree->pool)
		tree->pool = cow_pool_create();
	if (!tree->pool)
		return -ENOMEM;
	return cow_pool_reserve(tree->pool, nodes_wanted(tree, removals, insertions));
}

struct cow_tree cow_tree_clone(struct cow_tree *tree)
{
	if (!tree->root)
		return (struct cow_tree){.keys = tree->keys};
	tree->shared = true;
	tree->root->refs++;
	tree->pool->refs++;
	return *tree;
}

void cow_tree_deinit(struct cow_tree *tree)
{
	node_put(tree, tree->root);
	cow_pool_put(tree->pool);
	*tree = (struct cow_tree){.keys = tree->keys};
}

/* --- look-ups ------------------------------------------------------------------------- */

const struct cow_item *cow_tree_next(const struct cow_tree *tree, uint64_t address)
{
	const struct cow_node *node = tree->root, *above = NULL;
	const struct cow_item *item;
	size_t until;

	if (!node)
		return NULL;
	while (node->level) {
		size_t i = child_for(tree, node, address);

		if (i + 1 < node->count)
			above = node->children[i + 1].node;
		node = node->children[i].node;
	}
	until = entries_until(tree, node, address);
	item = item_at(tree, node, until ? until - 1 : 0);
	/* The items do not overlap, so only the last one that starts below can cover address. */
	if (end_of(tree, item) > address)
		return item;
	if (until < node->count)
		return item_at(tree, node, until);
	if (!above)
		return NULL;
	for (node = above; node->level;)
		node = node->children[0].node;
	return item_at(tree, node, 0);
}

const struct cow_item *cow_tree_last(const struct cow_tree *tree, uint64_t address)
{
	const struct cow_node *node = tree->root;
	size_t until;

	while (node && node->level)
		node = node->children[child_for(tree, node, address)].node;
	until = node ? entries_until(tree, node, address) : 0;
	return until ? item_at(tree, node, until - 1) : NULL;
}

static int each(const struct cow_tree *tree, const struct cow_node *node,
		int (*fn)(void *, const struct cow_item *), void *context)
{
	int err = 0;

	for (size_t i = 0; i < node->count && !err; i++)
		err = node->level ? each(tree, node->children[i].node, fn, context)
				  : fn(context, item_at(tree, node, i));
	return err;
}

int cow_tree_for_each(const struct cow_tree *tree,
		      int (*fn)(void *context, const struct cow_item *item), void *context)
{
	return tree->root ? each(tree, tree->root, fn, context) : 0;
}
