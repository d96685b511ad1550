/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/frame_tree.h"

#include <string.h>

#include "base/hash.h"
#include "base/scope.h"

/* What is needed only while the tree is being made. */
struct builder {
	struct frame_tree *tree;
	const struct view *view;
	const struct frame_labels *labels;
	uint64_t *totals; /* by profile node */
	uint32_t *places; /* by profile node: its innermost frame's node */
	uint32_t *first;  /* by location: index into label_numbers + 1, 0: not asked yet */
	VEC(uint32_t) label_numbers; /* of the frames of a location, innermost first */
};

static void builder_deinit(struct builder *b)
{
	free(b->totals);
	free(b->places);
	free(b->first);
	vec_deinit(&b->label_numbers);
}

static bool equal(const void *items, uint32_t item, const void *key_)
{
	const struct frame_tree_node *node = (const struct frame_tree_node *)items + item;
	const struct frame_tree_node *key = key_;

	return node->parent == key->parent && node->label == key->label;
}

/* The child of parent with this label, made where there is none. */
static int child(struct frame_tree *tree, uint32_t parent, uint32_t label, uint32_t *ret)
{
	struct frame_tree_node key = {
		.parent = parent,
		.label = label,
		.first_child = FRAME_TREE_NONE,
		.next_sibling = FRAME_TREE_NONE,
		.location = FRAME_TREE_NONE,
	};
	uint64_t hash = hash_mix(parent, label);
	uint32_t node = index_map_find(&tree->index, hash, equal, tree->nodes.data, &key);

	if (node == INDEX_MAP_NONE) {
		if (tree->nodes.size >= FRAME_TREE_NONE - 1 ||
		    vec_reserve(&tree->nodes, tree->nodes.size + 1))
			return -ENOMEM;
		node = (uint32_t)tree->nodes.size;
		if (index_map_insert(&tree->index, hash, node))
			return -ENOMEM;
		if (parent != FRAME_TREE_NONE) {
			key.next_sibling = tree->nodes.data[parent].first_child;
			tree->nodes.data[parent].first_child = node;
		}
		tree->nodes.data[tree->nodes.size++] = key;
	}
	*ret = node;
	return 0;
}

/* The labels of a location's frames, innermost first: good until the next location's. */
static int labels_of(struct builder *b, uint32_t location, uint32_t count, const uint32_t **ret)
{
	bool cached = location < b->view->locations->locations.size;
	size_t begin = b->label_numbers.size;

	if (cached && b->first[location]) {
		*ret = b->label_numbers.data + b->first[location] - 1;
		return 0;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct frame_text frame;
		uint32_t label;

		frame_text_get(b->view, location, i, &frame);
		if (b->labels->frame(b->labels->context, &frame, &label) ||
		    vec_push(&b->label_numbers, label))
			return -ENOMEM;
	}
	if (cached && begin < UINT32_MAX)
		b->first[location] = (uint32_t)begin + 1;
	*ret = b->label_numbers.data + begin;
	return 0;
}

/* Put the frames of one profile node into the tree under `at`. */
static int place_frames(struct builder *b, uint32_t location, uint64_t samples, uint32_t at,
			uint32_t *ret)
{
	uint32_t count = frame_text_count(b->view, location);
	const uint32_t *labels;

	if (labels_of(b, location, count, &labels))
		return -ENOMEM;
	for (uint32_t i = count; i--;) {
		struct frame_tree_node *node;

		if (child(b->tree, at, labels[i], &at))
			return -ENOMEM;
		node = &b->tree->nodes.data[at];
		node->total += samples;
		if (samples > node->location_samples) {
			node->location = location;
			node->frame = i;
			node->location_samples = samples;
		}
	}
	*ret = at;
	return 0;
}

static int place(struct builder *b, uint32_t number)
{
	const struct profile_node *node = &b->view->profile->nodes.data[number];
	uint64_t samples = b->totals[number];
	uint32_t at = 0, label;

	if (node->parent == PROFILE_NODE_NONE) {
		const char *comm = frame_text_comm(b->view, node->comm);

		if (b->labels->process(b->labels->context, comm, &label) ||
		    child(b->tree, 0, label, &at))
			return -ENOMEM;
		b->tree->nodes.data[0].total += samples;
		b->tree->nodes.data[at].total += samples;
	} else if (place_frames(b, node->location, samples, b->places[node->parent], &at)) {
		return -ENOMEM;
	}
	b->tree->nodes.data[at].self += node->self;
	b->places[number] = at;
	return 0;
}

int frame_tree_build(struct frame_tree *tree, const struct view *view,
		     const struct frame_labels *labels)
{
	const struct profile *profile = view->profile;
	size_t count = profile->nodes.size;
	CLEANUP(builder_deinit)
	struct builder b = {
		.tree = tree,
		.view = view,
		.labels = labels,
		.totals = calloc(count + 1, sizeof(*b.totals)),
		.places = calloc(count + 1, sizeof(*b.places)),
		.first = calloc(view->locations->locations.size + 1, sizeof(*b.first)),
	};
	uint32_t all;

	if (!b.totals || !b.places || !b.first || child(tree, FRAME_TREE_NONE, 0, &all))
		return -ENOMEM;
	for (size_t i = count; i--;) {
		const struct profile_node *node = &profile->nodes.data[i];

		b.totals[i] += node->self;
		if (node->parent != PROFILE_NODE_NONE)
			b.totals[node->parent] += b.totals[i];
	}
	for (size_t i = 0; i < count; i++) {
		if (b.totals[i] && place(&b, (uint32_t)i))
			return -ENOMEM;
	}
	return 0;
}

void frame_tree_deinit(struct frame_tree *tree)
{
	vec_deinit(&tree->nodes);
	index_map_deinit(&tree->index);
}
