/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a person looks at first, as text: processes, functions by self and total samples, and the
 * part of the tree with most samples. For a terminal, rows fit its width.
 */
#include "sink/sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "sink/frame_text.h"
#include "sink/ledger_rows.h"
#include "sink/run_text.h"
#include "sink/top/function_table.h"
#include "sink/top/hot_tree.h"
#include "sink/write/columns.h"
#include "sink/write/out.h"
#include "sink/write/text.h"

#define PROCESSES_SHOWN	  10
#define TREE_SHARE_MIN	  100 /* nodes with less than 1/100 are not shown */
#define NAME_COLUMNS_MIN  16
#define MODULE_COLUMNS	  24
#define COMM_COLUMNS	  16
#define COMMAND_COLUMNS	  1000
#define NARROW_COLUMNS	  80 /* below, the module has no column */
#define PROCESS_COLUMNS	  51 /* of a process's row without its name */
#define COUNT_COLUMNS_MIN 7

/* As `perf report` colours shares. */
#define HOT_PERCENT  5.0
#define WARM_PERCENT 0.5

#define BOLD   "\033[1m"
#define RED    "\033[31m"
#define GREEN  "\033[32m"
#define CYAN   "\033[36m"
#define YELLOW "\033[33m"
#define PLAIN  "\033[m"

struct top {
	const struct view *view;
	struct label_table labels;
	struct frame_tree tree;
	function_table functions;
	hot_rows hot;
	struct ledger_ranking processes;
	uint64_t samples; /* in the tree */
	int count_columns;
	struct text text;
};

static void top_deinit(struct top *top)
{
	label_table_deinit(&top->labels);
	frame_tree_deinit(&top->tree);
	vec_deinit(&top->functions);
	vec_deinit(&top->hot);
	ledger_ranking_deinit(&top->processes);
	text_deinit(&top->text);
}

/* --- parts of a row ------------------------------------------------------------------ */

static void put_colour(struct top *top, const char *colour)
{
	if (top->view->options.colours)
		text_put_string(&top->text, colour);
}

static void put_heading(struct top *top, const char *words)
{
	put_colour(top, BOLD);
	text_put_string(&top->text, words);
	put_colour(top, PLAIN);
	text_put_string(&top->text, "\n");
}

static void put_share(struct top *top, uint64_t samples, uint64_t all)
{
	double percent = run_text_percent(samples, all);
	bool coloured = percent >= WARM_PERCENT;

	if (coloured)
		put_colour(top, percent >= HOT_PERCENT ? RED : GREEN);
	text_printf(&top->text, "%6.2f%%", percent);
	if (coloured)
		put_colour(top, PLAIN);
}

static void put_counts(struct top *top, uint64_t samples)
{
	put_share(top, samples, top->samples);
	text_put_number(&top->text, samples, top->count_columns + 1);
	text_put_string(&top->text, "  ");
}

static const char *colour_of(const struct top *top, uint32_t label)
{
	switch (label_table_get(&top->labels, label)->kind) {
	case FRAME_KIND_JIT:
		return CYAN;
	case FRAME_KIND_KERNEL:
		return YELLOW;
	case LABEL_KIND_PROCESS:
		return BOLD;
	default:
		return NULL;
	}
}

static void put_name(struct top *top, uint32_t label, uint32_t columns)
{
	const char *colour = colour_of(top, label);

	if (colour)
		put_colour(top, colour);
	columns_put_name(&top->text, label_table_name(&top->labels, label), columns);
	if (colour)
		put_colour(top, PLAIN);
}

/* Returns the columns that are left for a name behind `used` columns. */
static uint32_t room_for_name(const struct top *top, uint32_t used)
{
	uint32_t columns = top->view->options.columns;

	if (!columns)
		return COLUMNS_ANY;
	return columns > used + NAME_COLUMNS_MIN ? columns - used : NAME_COLUMNS_MIN;
}

/* --- tables -------------------------------------------------------------------------- */

static void put_process(struct top *top, const struct ledger_process *process)
{
	struct text *text = &top->text;
	uint64_t taken = ledger_process_taken(process);
	uint32_t comm_columns = room_for_name(top, PROCESS_COLUMNS);

	put_share(top, taken, ledger_taken(top->view->ledger));
	text_put_number(text, taken, 11);
	text_printf(text, "%9.1f%%", run_text_percent(process->fate[FATE_RESOLVED], taken));
	text_put_number(text, process->jit.methods, 12);
	text_printf(text, "%9u  ", process->pid);
	columns_put_name(text, frame_text_comm(top->view, process->comm),
			 comm_columns < COMM_COLUMNS ? comm_columns : COMM_COLUMNS);
	text_put_string(text, "\n");
}

static void put_more(struct top *top, size_t more)
{
	if (more)
		text_printf(&top->text, "and %zu more\n", more);
}

static void put_processes(struct top *top)
{
	char heading[80];
	size_t count = top->processes.processes.size, shown = count;

	if (shown > PROCESSES_SHOWN)
		shown = PROCESSES_SHOWN;
	snprintf(heading, sizeof(heading), "%7s%11s%10s%12s%9s  %s", "SHARE", "SAMPLES", "RESOLVED",
		 "JIT METHODS", "PID", "PROCESS");
	put_heading(top, heading);
	for (size_t i = 0; i < shown; i++)
		put_process(top, top->processes.processes.data[i]);
	put_more(top, count - shown);
}

/* Returns the width of the column of modules; 0: there is none. */
static uint32_t module_columns(const struct top *top, size_t shown)
{
	uint32_t width = top->view->options.columns, columns = sizeof("MODULE") - 1;
	uint32_t limit = width && width / 6 < MODULE_COLUMNS ? width / 6 : MODULE_COLUMNS;

	if (width && width < NARROW_COLUMNS)
		return 0;
	for (size_t i = 0; i < shown; i++) {
		const char *module = label_table_module(&top->labels, top->functions.data[i].label);
		uint32_t needed = columns_of_name(module, limit);

		columns = needed > columns ? needed : columns;
	}
	return columns;
}

static void put_function(struct top *top, const struct function_count *function,
			 uint32_t module_width)
{
	uint32_t used = 2 * (7 + (uint32_t)top->count_columns + 1 + 2) + 8;
	const char *module = label_table_module(&top->labels, function->label);

	put_counts(top, function->self);
	put_counts(top, function->total);
	text_printf(&top->text, "%-6s  ", label_table_kind(&top->labels, function->label));
	if (module_width) {
		columns_put_padded(&top->text, *module ? module : "no stack", module_width);
		text_put_string(&top->text, "  ");
		used += module_width + 2;
	}
	put_name(top, function->label, room_for_name(top, used));
	text_put_string(&top->text, "\n");
}

static size_t limit_of(const struct top *top, size_t count)
{
	uint32_t rows = top->view->options.rows ?: TOP_ROWS_DEFAULT;

	return rows < count ? rows : count;
}

static void put_functions(struct top *top)
{
	size_t shown = limit_of(top, top->functions.size);
	uint32_t module_width = module_columns(top, shown);
	char heading[160];
	int length = snprintf(heading, sizeof(heading), "%7s%*s  %7s%*s  %-6s  ", "SELF",
			      top->count_columns + 1, "SAMPLES", "TOTAL", top->count_columns + 1,
			      "SAMPLES", "KIND");

	if (module_width)
		length += snprintf(heading + length, sizeof(heading) - (size_t)length, "%-*s  ",
				   (int)module_width, "MODULE");
	snprintf(heading + length, sizeof(heading) - (size_t)length, "FUNCTION");
	put_heading(top, heading);
	for (size_t i = 0; i < shown; i++)
		put_function(top, &top->functions.data[i], module_width);
	put_more(top, top->functions.size - shown);
}

/* Put a row of the tree; indentation takes a third of the width at most. */
static void put_node(struct top *top, const struct hot_row *row)
{
	const struct frame_tree_node *node = &top->tree.nodes.data[row->node];
	uint32_t used = 7 + (uint32_t)top->count_columns + 1 + 2 + 8, columns,
		 indent = 2 * row->depth;

	columns = room_for_name(top, used);
	if (columns != COLUMNS_ANY && indent > columns / 3)
		indent = columns / 3;
	put_counts(top, node->total);
	text_printf(&top->text, "%-6s  %*s",
		    row->skipped ? "" : label_table_kind(&top->labels, node->label), (int)indent,
		    "");
	if (row->skipped)
		text_printf(&top->text, "... %u frames", row->skipped);
	else
		put_name(top, node->label, columns == COLUMNS_ANY ? columns : columns - indent);
	text_put_string(&top->text, "\n");
}

static void put_tree(struct top *top)
{
	char heading[80];

	snprintf(heading, sizeof(heading), "%7s%*s  %-6s  %s", "TOTAL", top->count_columns + 1,
		 "SAMPLES", "KIND", "TREE");
	put_heading(top, heading);
	vec_for_each (row, &top->hot)
		put_node(top, row);
}

/* --- all ----------------------------------------------------------------------------- */

static int count_all(struct top *top)
{
	struct frame_labels labels;
	uint32_t rows = top->view->options.rows ?: TOP_ROWS_DEFAULT;
	int err = label_table_init(&top->labels);

	if (err)
		return err;
	label_table_init_labels(&top->labels, &labels);
	err = frame_tree_build(&top->tree, top->view, &labels);
	err = err ?: function_table_fill(&top->functions, &top->tree, &top->labels);
	err = err ?: ledger_rank(top->view->ledger, &top->processes);
	err = err
		      ?: hot_tree_rows(&top->tree, &top->labels, rows == TOP_ROWS_ALL ? 0 : rows,
				       TREE_SHARE_MIN, &top->hot);
	return err;
}

/* The number of columns of the largest count. */
static int count_columns_of(uint64_t samples)
{
	int columns = 1;

	for (uint64_t left = samples; left >= 10; left /= 10)
		columns++;
	columns += (columns - 1) / 3; /* commas */
	return columns > COUNT_COLUMNS_MIN ? columns : COUNT_COLUMNS_MIN;
}

static void put_all(struct top *top)
{
	struct text *text = &top->text;

	run_text_put(text, top->view->info, top->view->options.columns ?: COMMAND_COLUMNS);
	run_text_put_fates(text, top->view->ledger);
	text_put_string(text, "\n");
	if (!top->samples)
		return;
	text_put_string(text, "\n");
	put_processes(top);
	text_put_string(text, "\n");
	put_functions(top);
	text_put_string(text, "\n");
	put_tree(top);
}

static int top_finish(struct sink *sink, const struct view *view)
{
	CLEANUP(top_deinit) struct top top = {.view = view};
	int err = count_all(&top);

	if (err)
		return err;
	function_table_sort(&top.functions, &top.labels,
			    view->options.sort == VIEW_SORT_TOTAL ? FUNCTIONS_BY_TOTAL
								  : FUNCTIONS_BY_SELF);
	top.samples = top.tree.nodes.data[0].total;
	top.count_columns = count_columns_of(top.samples);
	put_all(&top);
	err = text_write(&top.text, out_stream(sink));
	return err ?: out_flush(out_stream(sink));
}

const struct sink_ops sink_top = {
	.name = "top",
	.extension = ".top",
	.counts_only = true,
	.create = out_create,
	.finish = top_finish,
	.destroy = out_destroy,
};
