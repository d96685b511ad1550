/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/diff/frame_diff_tree.h"

#include "base/hash.h"
#include "base/intern.h"
#include "base/scope.h"

static bool equal(const void *items, uint32_t item, const void *key_)
{
	const struct frame_diff_node *node = (const struct frame_diff_node *)items + item;
	const struct frame_diff_node *key = key_;

	return node->parent == key->parent && node->label == key->label;
}

static uint64_t hash_of(const void *items, uint32_t item)
{
	const struct frame_diff_node *node = (const struct frame_diff_node *)items + item;

	return hash_mix(node->parent, node->label);
}

int frame_diff_tree_add(struct frame_diff_tree *tree, const struct frame_diff_node *node,
			uint32_t *ret)
{
	int added = vec_intern_item_in(NULL, 0, &tree->nodes, &tree->index, hash_of(node, 0),
				       hash_of, equal, node, ret);

	for (int side = 0; !added && side < DIFF_SIDES; side++) {
		tree->nodes.data[*ret].self[side] += node->self[side];
		tree->nodes.data[*ret].total[side] += node->total[side];
	}
	return added < 0 ? added : 0;
}

/* A node in the walk. */
struct step {
	uint32_t rank;	 /* position of its label in the order */
	uint32_t number; /* number in order of addition */
	uint32_t parent; /* number in the order of the walk */
};

/* In reverse order: the walk takes the last step first. */
static int compare_steps(const void *a_, const void *b_)
{
	const struct step *a = a_, *b = b_;

	return (a->rank < b->rank) - (a->rank > b->rank);
}

/* State of sorting the nodes. */
struct walk {
	uint32_t *first_child, *next_sibling; /* by number */
	VEC(struct step) waiting;
};

static void walk_deinit(struct walk *walk)
{
	free(walk->first_child);
	free(walk->next_sibling);
	vec_deinit(&walk->waiting);
}

static int push_children(struct walk *walk, const struct frame_diff_tree *tree, uint32_t number,
			 uint32_t parent, const uint32_t *ranks)
{
	size_t first = walk->waiting.size;

	for (uint32_t i = walk->first_child[number]; i; i = walk->next_sibling[i]) {
		struct step step = {ranks[tree->nodes.data[i].label], i, parent};

		if (vec_push(&walk->waiting, step))
			return -ENOMEM;
	}
	if (walk->waiting.size > first)
		qsort(walk->waiting.data + first, walk->waiting.size - first,
		      sizeof(*walk->waiting.data), compare_steps);
	return 0;
}

/* Move each node to its place in the order. There may be millions, so not into a copy. */
static void move_nodes(struct frame_diff_node *nodes, uint32_t *places, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		while (places[i] != i) {
			uint32_t to = places[i];
			struct frame_diff_node moved = nodes[to];

			nodes[to] = nodes[i];
			nodes[i] = moved;
			places[i] = places[to];
			places[to] = to;
		}
	}
}

static int walk_nodes(struct frame_diff_tree *tree, const uint32_t *ranks)
{
	size_t count = tree->nodes.size;
	struct frame_diff_node *nodes = tree->nodes.data;
	/* by number: place in the order of the walk */
	AUTO_FREE uint32_t *places = calloc(count + 1, sizeof(*places));
	CLEANUP(walk_deinit)
	struct walk walk = {
		.first_child = calloc(count + 1, sizeof(*walk.first_child)),
		.next_sibling = calloc(count + 1, sizeof(*walk.next_sibling)),
	};
	uint32_t at = 0;

	if (!places || !walk.first_child || !walk.next_sibling ||
	    (count && vec_push(&walk.waiting, ((struct step){.parent = FRAME_TREE_NONE}))))
		return -ENOMEM;
	for (uint32_t i = 1; i < count; i++) {
		walk.next_sibling[i] = walk.first_child[nodes[i].parent];
		walk.first_child[nodes[i].parent] = i;
	}
	while (walk.waiting.size) {
		struct step step = walk.waiting.data[--walk.waiting.size];

		places[step.number] = at;
		nodes[step.number].parent = step.parent;
		if (push_children(&walk, tree, step.number, at++, ranks))
			return -ENOMEM;
	}
	move_nodes(nodes, places, count);
	return 0;
}

int frame_diff_tree_order(struct frame_diff_tree *tree, size_t label_count,
			  int (*compare)(const void *a, const void *b, void *context),
			  void *context)
{
	AUTO_FREE uint32_t *sorted = calloc(label_count, sizeof(*sorted));
	AUTO_FREE uint32_t *ranks = calloc(label_count, sizeof(*ranks));

	item_index_deinit(&tree->index);
	if (!sorted || !ranks)
		return -ENOMEM;
	for (uint32_t i = 0; i < label_count; i++)
		sorted[i] = i;
	qsort_r(sorted, label_count, sizeof(*sorted), compare, context);
	for (uint32_t i = 0; i < label_count; i++)
		ranks[sorted[i]] = i;
	return walk_nodes(tree, ranks);
}

void frame_diff_tree_deinit(struct frame_diff_tree *tree)
{
	vec_deinit(&tree->nodes);
	item_index_deinit(&tree->index);
}
