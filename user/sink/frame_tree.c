/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/frame_tree.h"

#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "base/scope.h"
#include "base/sort_keys.h"
#include "profile/ledger.h"
#include "sink/cgroup_text.h"
#include "sink/shown_profile.h"

/* State of building a tree. */
struct builder {
	struct frame_tree *tree;
	const struct view *view;
	const struct frame_labels *labels;
	struct item_index index; /* of the tree's nodes */
	/*
	 * The next six members describe the samples that are being added: those of all threads, or
	 * of one. Of all, `nodes` is empty and `self` is NULL: the profile has both.
	 */
	VEC(uint32_t) nodes; /* profile nodes that may have samples, parents first */
	uint64_t *self;	     /* by profile node */
	uint64_t *totals;    /* the same, if the tree keeps sources; else NULL */
	bool *used;	     /* by profile node: it or one below it has samples */
	uint32_t *places;    /* by profile node: tree node of its innermost frame */
	const struct sampled_thread *thread; /* NULL: all threads */
	struct sort_key *counts;	     /* sorted by thread; items are indexes of counts */
	uint32_t *met;		     /* by profile node: the last thread that visited it, + 1 */
	uint32_t *first;	     /* by location: index in label_numbers + 1; 0: no labels yet */
	VEC(uint32_t) label_numbers; /* of the frames of a location, innermost first */
};

static void builder_deinit(struct builder *b)
{
	item_index_deinit(&b->index);
	vec_deinit(&b->nodes);
	free(b->self);
	free(b->totals);
	free(b->used);
	free(b->places);
	free(b->counts);
	free(b->met);
	free(b->first);
	vec_deinit(&b->label_numbers);
}

static bool equal(const void *items, uint32_t item, const void *key_)
{
	const struct frame_tree_node *node = (const struct frame_tree_node *)items + item;
	const struct frame_tree_node *key = key_;

	return node->parent == key->parent && node->label == key->label;
}

static uint64_t hash_of(const void *items, uint32_t item)
{
	const struct frame_tree_node *node = (const struct frame_tree_node *)items + item;

	return hash_mix(node->parent, node->label);
}

/* Find or add the child of parent with a label. */
static int child(struct builder *b, uint32_t parent, uint32_t label, uint32_t *ret)
{
	const struct frame_tree_source no_source = {FRAME_TREE_NONE, FRAME_TREE_NONE, 0};
	struct frame_tree *tree = b->tree;
	struct frame_tree_node key = {
		.parent = parent,
		.label = label,
		.first_child = FRAME_TREE_NONE,
		.next_sibling = FRAME_TREE_NONE,
	};
	int added = vec_intern_item_in(NULL, 0, &tree->nodes, &b->index, hash_mix(parent, label),
				       hash_of, equal, &key, ret);

	if (added > 0 && tree->keeps_sources && vec_push(&tree->sources, no_source))
		return -ENOMEM;
	if (added > 0 && parent != FRAME_TREE_NONE) {
		tree->nodes.data[*ret].next_sibling = tree->nodes.data[parent].first_child;
		tree->nodes.data[parent].first_child = *ret;
	}
	return added < 0 ? added : 0;
}

/* Get the labels of a location's frames, innermost first. Valid until the next call. */
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

/* Add the frames of one profile node to the tree, below `at`. */
static int place_frames(struct builder *b, uint32_t location, uint64_t samples, uint32_t at,
			uint32_t *ret)
{
	uint32_t count = frame_text_count(b->view, location);
	const uint32_t *labels;

	if (labels_of(b, location, count, &labels))
		return -ENOMEM;
	for (uint32_t i = count; i--;) {
		if (child(b, at, labels[i], &at))
			return -ENOMEM;
		if (b->tree->keeps_sources && samples > b->tree->sources.data[at].samples)
			b->tree->sources.data[at] =
				(struct frame_tree_source){location, i, samples};
	}
	*ret = at;
	return 0;
}

/* Get the label of a process, or of the current thread. */
static int label_of_root(struct builder *b, uint32_t number, uint32_t *ret)
{
	const struct view *view = b->view;
	const struct profile_node *root = &view->profile->nodes.data[number];
	const char *comm = frame_text_comm(view, profile_comm(view->profile, number));
	const struct frame_labels *labels = b->labels;
	AUTO_FREE char *name = NULL;
	int size = 0;

	if (view->options.by == VIEW_BY_TID && !b->thread->pid) /* of several processes */
		return labels->process(labels->context, frame_text_comm(view, b->thread->comm),
				       ret);
	if (view->options.by == VIEW_BY_TID)
		size = asprintf(&name, "%s-%u/%u", frame_text_comm(view, b->thread->comm),
				b->thread->pid, b->thread->tid);
	else if (view->options.by == VIEW_BY_PID && root->location < view->ledger->processes.size &&
		 view->ledger->processes.data[root->location].pid)
		size = asprintf(&name, "%s-%u", comm,
				view->ledger->processes.data[root->location].pid);
	if (size < 0) {
		name = NULL;
		return -ENOMEM;
	}
	return labels->process(labels->context, name ?: comm, ret);
}

/* Add the outermost frames of the current samples: the process, or the thread. */
static int place_root(struct builder *b, uint32_t root, uint32_t *ret)
{
	uint32_t at = 0, label;

	if (b->view->options.by == VIEW_BY_CONTAINER) {
		const char *name = cgroup_text(b->view, b->thread->container, b->thread->unit);

		if (b->labels->process(b->labels->context, name, &label) ||
		    child(b, at, label, &at))
			return -ENOMEM;
	}
	if (label_of_root(b, root, &label) || child(b, at, label, &at))
		return -ENOMEM;
	*ret = at;
	return 0;
}

static int place(struct builder *b, uint32_t number)
{
	const struct profile_node *node = &b->view->profile->nodes.data[number];
	uint64_t samples = b->totals ? b->totals[number] : 0;
	uint32_t at = 0;

	if (node->parent == PROFILE_NODE_NONE) {
		if (place_root(b, number, &at))
			return -ENOMEM;
	} else if (shown_profile_hides(b->view, number)) {
		at = b->places[node->parent];
	} else if (place_frames(b, node->location, samples, b->places[node->parent], &at)) {
		return -ENOMEM;
	}
	b->tree->nodes.data[at].self += b->self ? b->self[number] : node->self;
	b->places[number] = at;
	return 0;
}

/* Add the current samples to the tree, and reset them. */
static int place_samples(struct builder *b)
{
	const struct profile *profile = b->view->profile;
	size_t count = b->self ? b->nodes.size : profile->nodes.size;
	int err = 0;

	for (size_t i = count; i--;) {
		uint32_t number = b->self ? b->nodes.data[i] : (uint32_t)i;
		const struct profile_node *node = &profile->nodes.data[number];
		bool is_root = node->parent == PROFILE_NODE_NONE;
		uint64_t self = b->self ? b->self[number] : node->self;

		b->used[number] |= self > 0;
		if (!is_root)
			b->used[node->parent] |= b->used[number];
		if (!b->totals)
			continue;
		b->totals[number] += self;
		if (!is_root)
			b->totals[node->parent] += b->totals[number];
	}
	for (size_t i = 0; i < count && !err; i++) {
		uint32_t number = b->self ? b->nodes.data[i] : (uint32_t)i;

		if (b->used[number])
			err = place(b, number);
	}
	vec_for_each (number, &b->nodes) {
		b->self[*number] = 0;
		b->used[*number] = false;
		if (b->totals)
			b->totals[*number] = 0;
	}
	b->nodes.size = 0;
	return err;
}

static int place_all(struct builder *b)
{
	int err = place_samples(b);

	if (!err && b->tree->keeps_sources)
		b->tree->places = TAKE_PTR(b->places);
	return err;
}

static int compare_numbers(const void *a_, const void *b_)
{
	uint32_t a = *(const uint32_t *)a_, b = *(const uint32_t *)b_;

	return (a > b) - (a < b);
}

/* Add the samples of each thread in turn. Visits only the nodes of its own stacks. */
static int place_counts(struct builder *b, const struct thread_counts *counts)
{
	const struct profile *profile = b->view->profile;
	struct sort_key *keys = calloc(counts->counts.size + 1, sizeof(*keys));
	uint32_t *met = calloc(profile->nodes.size + 1, sizeof(*met));
	size_t first = 0; /* first key of the thread */
	int err;

	b->counts = keys;
	b->met = met;
	b->self = calloc(profile->nodes.size + 1, sizeof(*b->self));
	if (b->tree->keeps_sources)
		b->tree->places = calloc(counts->counts.size + 1, sizeof(*b->tree->places));
	err = met && keys && b->self && (b->tree->places || !b->tree->keeps_sources) ? 0 : -ENOMEM;
	for (uint32_t i = 0; !err && i < counts->counts.size; i++)
		keys[i] = (struct sort_key){.key = counts->counts.data[i].thread, .item = i};
	err = err ?: sort_keys(keys, counts->counts.size);
	for (size_t i = 0; !err && i < counts->counts.size; i++) {
		const struct thread_count *count = &counts->counts.data[keys[i].item];
		uint32_t node = count->node;

		b->self[node] += count->samples;
		for (; !err && node != PROFILE_NODE_NONE && met[node] != count->thread + 1;
		     node = profile->nodes.data[node].parent) {
			met[node] = count->thread + 1;
			err = vec_push(&b->nodes, node);
		}
		if (err || (i + 1 < counts->counts.size && keys[i + 1].key == keys[i].key))
			continue;
		if (b->nodes.size)
			qsort(b->nodes.data, b->nodes.size, sizeof(*b->nodes.data),
			      compare_numbers);
		b->thread = &counts->threads.data[count->thread];
		err = place_samples(b);
		for (; b->tree->places && first <= i; first++)
			b->tree->places[keys[first].item] =
				b->places[counts->counts.data[keys[first].item].node];
	}
	return err;
}

static int place_threads(struct builder *b)
{
	CLEANUP(thread_counts_deinit) struct thread_counts scratch = {0};
	const struct thread_counts *counts;
	int err = shown_profile_counts(b->view, &scratch, &counts);

	err = err ?: place_counts(b, counts);
	b->thread = NULL; /* it may point into scratch */
	return err;
}

/* Parents come before their children, so the sum needs no totals of profile nodes. */
static void add_totals(struct frame_tree *tree)
{
	struct frame_tree_node *nodes = tree->nodes.data;

	for (size_t i = tree->nodes.size; i--;) {
		nodes[i].total += nodes[i].self;
		if (nodes[i].parent != FRAME_TREE_NONE)
			nodes[nodes[i].parent].total += nodes[i].total;
	}
}

int frame_tree_build(struct frame_tree *tree, const struct view *view,
		     const struct frame_labels *labels)
{
	size_t count = view->profile->nodes.size;
	CLEANUP(builder_deinit)
	struct builder b = {
		.tree = tree,
		.view = view,
		.labels = labels,
		.totals = tree->keeps_sources ? calloc(count + 1, sizeof(*b.totals)) : NULL,
		.used = calloc(count + 1, sizeof(*b.used)),
		.places = calloc(count + 1, sizeof(*b.places)),
		.first = calloc(view->locations->locations.size + 1, sizeof(*b.first)),
	};
	uint32_t all;
	int err;

	if ((tree->keeps_sources && !b.totals) || !b.used || !b.places || !b.first ||
	    child(&b, FRAME_TREE_NONE, 0, &all))
		return -ENOMEM;
	err = view_by_thread(view->options.by) ? place_threads(&b) : place_all(&b);
	if (err)
		return err;
	add_totals(tree);
	vec_fit(&tree->nodes);
	vec_fit(&tree->sources);
	return 0;
}

void frame_tree_deinit(struct frame_tree *tree)
{
	vec_deinit(&tree->nodes);
	vec_deinit(&tree->sources);
	free(TAKE_PTR(tree->places));
}
