/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The flame graph page of a difference: its groups are the two sides. */
#include "sink/frame_diff.h"

#include "base/scope.h"
#include "sink/page_data.h"

_Static_assert(DIFF_BEFORE == 0 && DIFF_AFTER == 1 && DIFF_SIDES == 2, "the page's groups");

/* The page's number of each of the diff's labels, and of its source line. */
struct numbers {
	uint32_t *labels, *sources;
};

static void numbers_deinit(struct numbers *numbers)
{
	free(numbers->labels);
	free(numbers->sources);
}

static int add_labels(struct page_data *page, const struct frame_diff *diff,
		      struct numbers *numbers)
{
	uint32_t count;
	const struct frame_diff_label *labels = frame_diff_labels(diff, &count);

	numbers->labels = calloc(count + 1, sizeof(*numbers->labels));
	numbers->sources = calloc(count + 1, sizeof(*numbers->sources));
	if (!numbers->labels || !numbers->sources)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const struct frame_diff_label *label = &labels[i];
		uint32_t kind =
			*label->module ? page_data_kind(label->kind, label->inlined) : PAGE_PROCESS;

		if (page_data_label(page, label->name, label->module, kind, &numbers->labels[i]) ||
		    page_data_source(page, label->file, label->line, &numbers->sources[i]))
			return -ENOMEM;
	}
	return 0;
}

static int add_node(struct page_data *page, const struct frame_diff_node *node, uint32_t number,
		    const struct numbers *numbers)
{
	struct page_node out = {
		.parent = node->parent,
		.label = number ? numbers->labels[node->label] : 0, /* node 0 is everything */
		.source = number ? numbers->sources[node->label] : 0,
	};

	for (uint32_t side = 0; side < DIFF_SIDES; side++) {
		struct page_count count = {number, side, node->self[side]};

		if (count.samples && vec_push(&page->counts, count))
			return -ENOMEM;
	}
	return vec_push(&page->nodes, out);
}

int frame_diff_write_html(FILE *out, const struct frame_diff *diff, const struct view *before,
			  const struct view *after)
{
	CLEANUP(page_data_deinit) struct page_data page;
	CLEANUP(numbers_deinit) struct numbers numbers = {0};
	const struct view *const views[DIFF_SIDES] = {before, after};
	uint32_t count;
	const struct frame_diff_node *nodes = frame_diff_nodes(diff, &count);
	int err = page_data_init(&page);

	err = err ?: add_labels(&page, diff, &numbers);
	for (uint32_t i = 0; !err && i < count; i++)
		err = add_node(&page, &nodes[i], i, &numbers);
	return err ?: page_data_write(&page, out, views, DIFF_SIDES);
}
