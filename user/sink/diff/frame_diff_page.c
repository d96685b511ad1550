/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The flame graph page of a difference: its groups are the two sides. */
#include "sink/diff/frame_diff.h"

#include "base/scope.h"
#include "sink/format/page_data.h"

_Static_assert(DIFF_BEFORE == 0 && DIFF_AFTER == 1 && DIFF_SIDES == 2, "the page's groups");

/* A label is a function, which its source file may tell apart. */
static int add_label(struct page_data *page, const struct frame_diff_label *label, uint32_t *ret)
{
	const struct frame_text frame = {
		.name = label->name,
		.module = label->module,
		.kind = label->kind,
		.inlined = label->inlined,
		.tier = label->inlined ? CODE_TIER_INLINED : CODE_TIER_PLAIN,
		.function = label->name,
		.function_file = label->function_file,
		.function_kind = label->kind,
	};

	return *label->module ? page_data_frame(page, &frame, true, ret)
			      : page_data_process(page, label->name, ret);
}

static int add_labels(struct page_data *page, const struct frame_diff_label *labels, uint32_t count,
		      struct page_node *ret)
{
	for (uint32_t i = 0; i < count; i++) {
		if (add_label(page, &labels[i], &ret[i].label) ||
		    page_data_source(page, labels[i].file, labels[i].line, &ret[i].source))
			return -ENOMEM;
	}
	return 0;
}

static int add_node(struct page_data *page, const struct frame_diff_node *node, uint32_t number,
		    const struct page_node *by_label)
{
	struct page_node out = {0}; /* node 0: the root */

	if (number)
		out = by_label[node->label];
	out.parent = node->parent;
	for (uint32_t side = 0; side < DIFF_SIDES; side++) {
		struct page_count count = {number, side, node->self[side]};

		if (count.samples && vec_push(&page->samples[0].counts, count))
			return -ENOMEM;
	}
	return vec_push(&page->samples[0].nodes, out);
}

static int add_hidden(struct page_data *page, const struct frame_diff *diff,
		      const struct page_node *by_label)
{
	for (uint32_t side = 0; side < DIFF_SIDES; side++) {
		vec_for_each (total, frame_diff_hidden(diff, side)) {
			struct page_hidden out = {by_label[total->label].label, side,
						  total->samples};

			if (vec_push(&page->samples[0].hidden, out))
				return -ENOMEM;
		}
	}
	return 0;
}

int frame_diff_write_html(FILE *out, const struct frame_diff *diff, const struct view *before,
			  const struct view *after)
{
	CLEANUP(page_data_deinit) struct page_data page;
	const struct view *const views[DIFF_SIDES] = {before, after};
	uint32_t node_count, label_count;
	const struct frame_diff_node *nodes = frame_diff_nodes(diff, &node_count);
	const struct frame_diff_label *labels = frame_diff_labels(diff, &label_count);
	AUTO_FREE struct page_node *by_label = calloc(label_count + (size_t)1, sizeof(*by_label));
	int err = page_data_init(&page);

	if (!err && !by_label)
		err = -ENOMEM;
	err = err ?: add_labels(&page, labels, label_count, by_label);
	for (uint32_t i = 0; !err && i < node_count; i++)
		err = add_node(&page, &nodes[i], i, by_label);
	err = err ?: add_hidden(&page, diff, by_label);
	return err ?: page_data_write(&page, out, views, DIFF_SIDES);
}
