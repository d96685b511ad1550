/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The format `top`: commands, functions by self and total samples, and the part of the tree with
 * most samples, as text. For a terminal, rows fit its width.
 */
#include "sink/sink.h"

#include <errno.h>

#include "base/scope.h"
#include "sink/run_text.h"
#include "sink/runtime_rows.h"
#include "sink/sample_groups.h"
#include "sink/top/hot_tree.h"
#include "sink/top/top_rows.h"
#include "sink/write/out.h"

#define GROUPS_SHOWN	10
#define TREE_SHARE_MIN	100 /* nodes with less than 1/100 are not shown */
#define COMMAND_COLUMNS 1000

struct top {
	const struct view *view;
	struct label_table labels;
	struct frame_tree tree;
	hidden_labels hidden;
	function_table functions;
	hot_rows hot;
	struct naming naming;
	struct sample_groups groups;
	struct text text;
};

static void top_deinit(struct top *top)
{
	label_table_deinit(&top->labels);
	frame_tree_deinit(&top->tree);
	vec_deinit(&top->hidden);
	vec_deinit(&top->functions);
	vec_deinit(&top->hot);
	naming_deinit(&top->naming);
	sample_groups_deinit(&top->groups);
	text_deinit(&top->text);
}

static uint32_t rows_of(const struct top *top)
{
	return top->view->options.rows ?: TOP_ROWS_DEFAULT;
}

static int count_all(struct top *top)
{
	struct frame_labels labels;
	uint32_t rows = rows_of(top) == TOP_ROWS_ALL ? 0 : rows_of(top);
	int err = label_table_init(&top->labels);

	if (err)
		return err;
	label_table_init_labels(&top->labels, &labels);
	err = frame_tree_build(&top->tree, top->view, &labels);
	err = err ?: hidden_labels_add(top->view, &labels, &top->hidden);
	err = err ?: function_table_fill(&top->functions, &top->tree, &top->labels, &top->hidden);
	err = err ?: naming_count(top->view, &top->naming);
	err = err ?: sample_groups_fill(&top->groups, top->view, &top->naming);
	err = err ?: hot_tree_rows(&top->tree, &top->labels, rows, TREE_SHARE_MIN, &top->hot);
	if (!err)
		function_table_sort(&top->functions, &top->labels,
				    top->view->options.sort == VIEW_SORT_TOTAL ? FUNCTIONS_BY_TOTAL
									       : FUNCTIONS_BY_SELF);
	return err;
}

static void init_layout(const struct top *top, uint64_t samples, struct top_layout *ret)
{
	const struct view_options *options = &top->view->options;

	top_layout_init(ret, &top->labels, samples, options->columns, options->colours);
}

static void put_more(struct text *text, size_t more)
{
	if (more)
		text_printf(text, "and %zu more\n", more);
}

static void put_functions(struct top *top)
{
	size_t count = top->functions.size, shown = rows_of(top) < count ? rows_of(top) : count;
	struct top_layout layout;

	init_layout(top, top->tree.nodes.data[0].total, &layout);
	top_layout_fit_modules(&layout, top->functions.data, shown);
	top_put_function_heading(&top->text, &layout);
	text_put_string(&top->text, "\n");
	for (size_t i = 0; i < shown; i++) {
		top_put_function(&top->text, &layout, &top->functions.data[i]);
		text_put_string(&top->text, "\n");
	}
	put_more(&top->text, count - shown);
}

static void put_tree(struct top *top)
{
	struct top_layout layout;

	init_layout(top, top->tree.nodes.data[0].total, &layout);
	top_put_node_heading(&top->text, &layout);
	text_put_string(&top->text, "\n");
	vec_for_each (row, &top->hot) {
		const struct frame_tree_node *node = &top->tree.nodes.data[row->node];

		if (row->skipped)
			top_put_skipped(&top->text, &layout, node, row->depth, row->skipped);
		else
			top_put_node(&top->text, &layout, node, row->depth, "");
		text_put_string(&top->text, "\n");
	}
}

/* Put whether the functions of each runtime are shown, a line for each. */
static void put_runtimes(struct top *top)
{
	runtime_rows rows = {0};

	if (runtime_rows_fill(top->view->ledger, &rows))
		top->text.failed = true;
	vec_for_each (row, &rows) {
		text_put_number(&top->text, row->samples, 0);
		text_put_string(&top->text, row->samples == 1 ? " sample of " : " samples of ");
		runtime_row_put(&top->text, row);
		text_put_string(&top->text, "\n");
	}
	vec_deinit(&rows);
}

static void put_all(struct top *top)
{
	struct text *text = &top->text;
	uint32_t columns = top->view->options.columns;

	run_text_put(text, top->view->info, columns ?: COMMAND_COLUMNS);
	run_text_put_fates(text, top->view->ledger);
	text_put_string(text, "\n");
	put_runtimes(top);
	if (!top->tree.nodes.data[0].total)
		return;
	text_put_string(text, "\n");
	sample_groups_put(&top->groups, top->view, GROUPS_SHOWN, text, columns);
	text_put_string(text, "\n");
	put_functions(top);
	text_put_string(text, "\n");
	put_tree(top);
}

static int top_finish(struct sink *sink, const struct view *view)
{
	CLEANUP(top_deinit) struct top top = {.view = view};
	int err = count_all(&top);

	if (!err)
		put_all(&top);
	err = err ?: text_write(&top.text, out_stream(sink));
	return err ?: out_flush(out_stream(sink));
}

const struct sink_ops sink_top = {
	.name = "top",
	.extension = ".top",
	.counts_only = true,
	.profile_times = 2,
	.create = out_create,
	.finish = top_finish,
	.destroy = out_destroy,
};
