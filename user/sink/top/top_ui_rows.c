/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/top/top_ui_state.h"

#include <errno.h>
#include <stdlib.h>

#include "base/intern.h"
#include "base/scope.h"

#define ROWS_MAX  100000 /* limit of the rows of the tree */
#define FOLDS_MAX 65536
#define OPEN_PART 10 /* nodes with 1/10 of the samples are open */

/* --- the tree ------------------------------------------------------------------------ */

static bool equal_path(const void *folds, uint32_t item, const void *fold)
{
	return ((const struct top_fold *)folds)[item].path == ((const struct top_fold *)fold)->path;
}

int top_rows_fold(struct top_ui *ui, uint32_t node, bool open)
{
	struct top_fold fold = {ui->model.paths[node], open};
	uint32_t number;
	int added = vec_intern(&ui->folds, &ui->fold_index, fold.path, equal_path, &fold, &number);

	if (added < 0)
		return added;
	ui->folds.data[number].open = open;
	return 0;
}

/* Why a name filter shows a node: where the matching node is, relative to it. */
enum kept { KEPT_BELOW = 1, KEPT_ITSELF = 2, KEPT_ABOVE = 4 };

/*
 * Returns a set of enum kept by node; 0: the node is hidden. Owned by the caller; NULL: no memory.
 */
static uint8_t *mark_kept(struct top_ui *ui)
{
	const struct frame_tree *tree = &ui->model.tree;
	const struct frame_tree_node *nodes = tree->nodes.data;
	uint8_t *kept = calloc(tree->nodes.size + 1, sizeof(*kept));

	for (size_t i = tree->nodes.size; kept && i-- > 1;) {
		if (top_pattern_matches(&ui->name, &ui->model.labels, nodes[i].label))
			kept[i] |= KEPT_ITSELF;
		if (kept[i])
			kept[nodes[i].parent] |= KEPT_BELOW;
	}
	for (size_t i = 1; kept && i < tree->nodes.size; i++) {
		if (kept[nodes[i].parent] & (KEPT_ITSELF | KEPT_ABOVE))
			kept[i] |= KEPT_ABOVE;
	}
	return kept;
}

/* A node with many samples stays open once it was shown open. */
static bool is_open(struct top_ui *ui, const uint8_t *kept, uint32_t node)
{
	const struct frame_tree_node *at = &ui->model.tree.nodes.data[node];
	struct top_fold fold = {.path = ui->model.paths[node]};
	uint32_t number =
		index_map_find(&ui->fold_index, fold.path, equal_path, ui->folds.data, &fold);

	if (at->first_child == FRAME_TREE_NONE)
		return false;
	if (number != INDEX_MAP_NONE)
		return ui->folds.data[number].open;
	if (at->total >= (ui->model.samples + OPEN_PART - 1) / OPEN_PART) {
		if (ui->folds.size < FOLDS_MAX)
			top_rows_fold(ui, node, true); /* without memory, it is decided again */
		return true;
	}
	return ui->name.set && kept[node] & KEPT_BELOW;
}

static int push_children(struct top_ui *ui, const uint8_t *kept, uint32_t node, uint32_t depth,
			 tree_children *children, hot_rows *waiting)
{
	int err = hot_tree_children(&ui->model.tree, &ui->model.labels, node, 1, children);

	for (size_t i = children->size; i-- && !err;) {
		struct hot_row row = {.node = children->data[i], .depth = depth};

		if (kept[row.node])
			err = vec_push(waiting, row);
	}
	return err;
}

static int list_tree(struct top_ui *ui)
{
	AUTO_FREE uint8_t *kept = mark_kept(ui);
	tree_children children = {0};
	hot_rows waiting = {0};
	int err = kept ? 0 : -ENOMEM;

	if (!err && ui->model.tree.nodes.size)
		err = push_children(ui, kept, 0, 0, &children, &waiting);
	while (!err && waiting.size && ui->rows.size < ROWS_MAX) {
		struct hot_row at = waiting.data[--waiting.size];
		struct top_row row = {
			.id = ui->model.paths[at.node],
			.index = at.node,
			.depth = at.depth,
			.open = is_open(ui, kept, at.node),
		};

		err = vec_push(&ui->rows, row);
		if (!err && row.open)
			err = push_children(ui, kept, at.node, at.depth + 1, &children, &waiting);
	}
	vec_deinit(&children);
	vec_deinit(&waiting);
	return err;
}

int top_rows_reveal(struct top_ui *ui, uint32_t node)
{
	const struct frame_tree_node *nodes = ui->model.tree.nodes.data;
	struct top_place *place = &ui->places[TAB_TREE];
	int err = 0;

	for (uint32_t at = nodes[node].parent; at && !err; at = nodes[at].parent)
		err = top_rows_fold(ui, at, true);
	if (err)
		return err;
	ui->tab = TAB_TREE;
	place->chosen = true;
	place->id = ui->model.paths[node];
	err = top_rows_list(ui);
	place->first = place->row > ui->page / 2 ? place->row - ui->page / 2 : 0;
	return err;
}

/* --- the other tables ---------------------------------------------------------------- */

static int compare_processes(const void *a_, const void *b_, void *ui_)
{
	const struct top_process *a = a_, *b = b_;
	const struct top_ui *ui = ui_;
	int by = 0;

	if (ui->places[TAB_PROCESSES].sort == 0)
		by = (a->samples < b->samples) - (a->samples > b->samples);
	else if (ui->places[TAB_PROCESSES].sort == 2)
		by = label_table_compare(&ui->model.labels, a->label, b->label);
	by = by ?: (a->pid > b->pid) - (a->pid < b->pid);
	return by ?: (a->number > b->number) - (a->number < b->number);
}

static int list_processes(struct top_ui *ui)
{
	struct top_process *processes = ui->model.processes.data;
	uint32_t count = (uint32_t)ui->model.processes.size;
	int err = 0;

	if (count)
		qsort_r(processes, count, sizeof(*processes), compare_processes, ui);
	for (uint32_t i = 0; i < count && !err; i++) {
		struct top_row row = {.id = processes[i].number, .index = i};

		if (top_pattern_matches(&ui->name, &ui->model.labels, processes[i].label))
			err = vec_push(&ui->rows, row);
	}
	return err;
}

static int list_functions(struct top_ui *ui)
{
	function_table *functions = &ui->model.functions;
	int err = 0;

	function_table_sort(functions, &ui->model.labels,
			    (enum function_sort)ui->places[TAB_FUNCTIONS].sort);
	for (uint32_t i = 0; i < functions->size && !err; i++) {
		struct top_row row = {.id = functions->data[i].label, .index = i};

		if (top_pattern_matches(&ui->name, &ui->model.labels, functions->data[i].label))
			err = vec_push(&ui->rows, row);
	}
	return err;
}

/* --- the selection ------------------------------------------------------------------- */

void top_rows_select(struct top_ui *ui, int64_t row)
{
	struct top_place *place = &ui->places[ui->tab];
	int64_t last = (int64_t)ui->rows.size - 1;

	row = row > last ? last : row;
	place->row = row < 0 ? 0 : (uint32_t)row;
	place->chosen = last >= 0;
	if (place->chosen)
		place->id = ui->rows.data[place->row].id;
}

const struct top_row *top_rows_selected(const struct top_ui *ui)
{
	uint32_t row = ui->places[ui->tab].row;

	return row < ui->rows.size ? &ui->rows.data[row] : NULL;
}

/* Find the selected row again, and keep it on its line of the screen. */
static void follow_selection(struct top_ui *ui)
{
	struct top_place *place = &ui->places[ui->tab];
	uint32_t line = place->row - place->first;

	for (uint32_t i = 0; place->chosen && i < ui->rows.size; i++) {
		if (ui->rows.data[i].id != place->id)
			continue;
		place->row = i;
		place->first = i > line ? i - line : 0;
		return;
	}
	place->chosen = false;
	if (place->row >= ui->rows.size)
		place->row = ui->rows.size ? (uint32_t)ui->rows.size - 1 : 0;
}

int top_rows_list(struct top_ui *ui)
{
	int err;

	ui->rows.size = 0;
	if (ui->tab == TAB_PROCESSES)
		err = list_processes(ui);
	else if (ui->tab == TAB_FUNCTIONS)
		err = list_functions(ui);
	else
		err = list_tree(ui);
	follow_selection(ui);
	return err;
}

uint32_t top_rows_label(const struct top_ui *ui, const struct top_row *row)
{
	switch (ui->tab) {
	case TAB_PROCESSES:
		return ui->model.processes.data[row->index].label;
	case TAB_FUNCTIONS:
		return ui->model.functions.data[row->index].label;
	default:
		return ui->model.tree.nodes.data[row->index].label;
	}
}
