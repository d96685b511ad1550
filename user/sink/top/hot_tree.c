/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/top/hot_tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/scope.h"

struct children_order {
	const struct frame_tree_node *nodes;
	const struct label_table *labels;
};

static int compare_children(const void *a_, const void *b_, void *order_)
{
	const struct children_order *order = order_;
	const struct frame_tree_node *a = &order->nodes[*(const uint32_t *)a_];
	const struct frame_tree_node *b = &order->nodes[*(const uint32_t *)b_];
	int by = (a->total < b->total) - (a->total > b->total);

	return by ?: label_table_compare(order->labels, a->label, b->label);
}

int hot_tree_children(const struct frame_tree *tree, const struct label_table *labels,
		      uint32_t node, uint64_t least, tree_children *ret)
{
	const struct frame_tree_node *nodes = tree->nodes.data;
	struct children_order order = {nodes, labels};

	ret->size = 0;
	for (uint32_t i = nodes[node].first_child; i != FRAME_TREE_NONE;
	     i = nodes[i].next_sibling) {
		if (nodes[i].total >= least && vec_push(ret, i))
			return -ENOMEM;
	}
	if (ret->size)
		qsort_r(ret->data, ret->size, sizeof(*ret->data), compare_children, &order);
	return 0;
}

/* Returns true if a node has nearly all samples of its parent. */
static bool continues(const struct frame_tree *tree, uint32_t node)
{
	const struct frame_tree_node *nodes = tree->nodes.data;

	return nodes[node].total >= nodes[nodes[node].parent].total / 100 * 99 +
					    nodes[nodes[node].parent].total % 100 * 99 / 100;
}

/*
 * Returns, by node, whether it is inside a path without branches: it has nearly all samples of its
 * parent, and a child has nearly all of its own.
 */
static bool *mark_insides(const struct frame_tree *tree)
{
	const struct frame_tree_node *nodes = tree->nodes.data;
	bool *insides = calloc(tree->nodes.size, sizeof(*insides));

	for (size_t i = tree->nodes.size; insides && i-- > 1;) {
		uint32_t parent = nodes[i].parent;

		if (nodes[i].total && continues(tree, (uint32_t)i) && parent &&
		    nodes[parent].parent && continues(tree, parent))
			insides[parent] = true;
	}
	return insides;
}

static int compare_totals(const void *a_, const void *b_)
{
	uint64_t a = *(const uint64_t *)a_, b = *(const uint64_t *)b_;

	return (a < b) - (a > b);
}

/* Set *ret to the number of samples that about `rows` nodes have at least. */
static int find_least(const struct frame_tree *tree, const bool *insides, uint32_t rows,
		      uint32_t share_min, uint64_t *ret)
{
	uint64_t least = (tree->nodes.data[0].total + share_min - 1) / share_min;
	VEC(uint64_t) totals = {0};
	int err = 0;

	for (size_t i = 1; i < tree->nodes.size && !err; i++) {
		if (!insides[i] && tree->nodes.data[i].total >= least)
			err = vec_push(&totals, tree->nodes.data[i].total);
	}
	if (!err && rows && totals.size > rows) {
		qsort(totals.data, totals.size, sizeof(*totals.data), compare_totals);
		least = totals.data[rows - 1];
		/* Leave out the nodes with the least total if not all of them have a row. */
		if (totals.data[rows] == least && totals.data[0] > least)
			least++;
	}
	vec_deinit(&totals);
	*ret = least ?: 1;
	return err;
}

/* Walks the tree from the outside in. */
struct walk {
	const struct frame_tree *tree;
	const struct label_table *labels;
	const bool *insides;
	uint64_t least;
	tree_children children;
	hot_rows waiting; /* the next one is last */
};

static void walk_deinit(struct walk *walk)
{
	vec_deinit(&walk->children);
	vec_deinit(&walk->waiting);
}

static int push_children(struct walk *walk, uint32_t node, uint32_t depth)
{
	int err = hot_tree_children(walk->tree, walk->labels, node, walk->least, &walk->children);

	for (size_t i = walk->children.size; i-- && !err;) {
		struct hot_row row = {.node = walk->children.data[i], .depth = depth};

		err = vec_push(&walk->waiting, row);
	}
	return err;
}

/* Advance *node from the first skipped frame to the last. Returns the number of skipped frames. */
static uint32_t skip(const struct walk *walk, uint32_t *node)
{
	const struct frame_tree_node *nodes = walk->tree->nodes.data;
	uint32_t skipped = 1;

	for (;;) {
		uint32_t next = nodes[*node].first_child;

		while (next != FRAME_TREE_NONE && !continues(walk->tree, next))
			next = nodes[next].next_sibling;
		if (next == FRAME_TREE_NONE || !walk->insides[next])
			return skipped;
		*node = next;
		skipped++;
	}
}

int hot_tree_rows(const struct frame_tree *tree, const struct label_table *labels, uint32_t rows,
		  uint32_t share_min, hot_rows *ret)
{
	CLEANUP(walk_deinit) struct walk walk = {.tree = tree, .labels = labels};
	AUTO_FREE bool *insides = NULL;
	int err;

	if (!tree->nodes.size || !tree->nodes.data[0].total)
		return 0;
	insides = mark_insides(tree);
	if (!insides)
		return -ENOMEM;
	walk.insides = insides;
	err = find_least(tree, insides, rows, share_min, &walk.least);
	err = err ?: push_children(&walk, 0, 0);
	while (!err && walk.waiting.size) {
		struct hot_row row = walk.waiting.data[--walk.waiting.size];
		uint32_t last = row.node, skipped = insides[row.node] ? skip(&walk, &last) : 0;

		if (skipped > 1) {
			row.node = last;
			row.skipped = skipped;
		}
		err = vec_push(ret, row);
		err = err ?: push_children(&walk, row.node, row.depth + 1);
	}
	return err;
}
