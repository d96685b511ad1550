/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/top/function_table.h"

#include <errno.h>
#include <stdlib.h>

#include "base/scope.h"

/* Add up the samples by label. open: how often each label is on the path to the current node. */
static void add_up(struct function_count *functions, uint32_t *open, const struct frame_tree *tree)
{
	const struct frame_tree_node *nodes = tree->nodes.data;
	uint32_t at = 0;

	for (;;) {
		struct function_count *function = &functions[nodes[at].label];

		function->self += nodes[at].self;
		if (!open[nodes[at].label]++)
			function->total += nodes[at].total;
		if (nodes[at].first_child != FRAME_TREE_NONE) {
			at = nodes[at].first_child;
			continue;
		}
		open[nodes[at].label]--;
		while (at && nodes[at].next_sibling == FRAME_TREE_NONE) {
			at = nodes[at].parent;
			open[nodes[at].label]--;
		}
		if (!at)
			return;
		at = nodes[at].next_sibling;
	}
}

static bool is_listed(const struct function_count *function, const struct label_table *labels)
{
	uint32_t kind = label_table_get(labels, function->label)->kind;

	if (kind == LABEL_KIND_ROOT)
		return false;
	return kind == LABEL_KIND_PROCESS ? function->self : function->total;
}

int function_table_fill(function_table *table, const struct frame_tree *tree,
			const struct label_table *labels, const hidden_labels *hidden)
{
	uint32_t count = label_table_size(labels);
	AUTO_FREE uint32_t *open = calloc(count, sizeof(*open));
	size_t listed = 0;

	if (!open || vec_reserve(table, count))
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		table->data[i] = (struct function_count){.label = i};
	if (tree->nodes.size)
		add_up(table->data, open, tree);
	for (size_t i = 0; hidden && i < hidden->size; i++)
		table->data[hidden->data[i].label].total += hidden->data[i].samples;
	for (uint32_t i = 0; i < count; i++) {
		if (is_listed(&table->data[i], labels))
			table->data[listed++] = table->data[i];
	}
	table->size = listed;
	return 0;
}

struct order {
	const struct label_table *labels;
	enum function_sort by;
};

static int compare(const void *a_, const void *b_, void *order_)
{
	const struct function_count *a = a_, *b = b_;
	const struct order *order = order_;
	int self = (a->self < b->self) - (a->self > b->self);
	int total = (a->total < b->total) - (a->total > b->total);
	int by = 0;

	if (order->by == FUNCTIONS_BY_SELF)
		by = self ?: total;
	else if (order->by == FUNCTIONS_BY_TOTAL)
		by = total ?: self;
	return by ?: label_table_compare(order->labels, a->label, b->label);
}

void function_table_sort(function_table *table, const struct label_table *labels,
			 enum function_sort by)
{
	struct order order = {labels, by};

	if (table->size)
		qsort_r(table->data, table->size, sizeof(*table->data), compare, &order);
}
