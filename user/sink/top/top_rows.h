/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of the tables of processes, functions and frames, as `report -f top` and `jitbpf top` show
 * them. Rows end without a newline. Each one fits the width of its layout, from TOP_COLUMNS_MIN on.
 */
#ifndef JITBPF_SINK_TOP_TOP_ROWS_H
#define JITBPF_SINK_TOP_TOP_ROWS_H

#include "sink/top/function_table.h"
#include "sink/write/text.h"

#define TOP_COLUMNS_MIN 40

struct top_process {
	uint32_t number; /* row of the ledger */
	uint32_t pid;
	uint32_t label;			       /* of its name */
	uint64_t samples;		       /* that are shown */
	uint64_t named;			       /* of these (naming.h) */
	uint64_t taken, resolved, jit_methods; /* since the start */
};

struct top_layout {
	const struct label_table *labels; /* borrowed */
	uint64_t samples;		  /* 100 % */
	uint32_t columns;		  /* width; 0: no limit */
	uint32_t module_columns;	  /* 0: no column */
	int count_columns;
	bool narrow;  /* shares only: counts have no columns */
	bool colours; /* escape sequences */
};

/* Make the layout of tables for `samples` in all. */
void top_layout_init(struct top_layout *layout, const struct label_table *labels, uint64_t samples,
		     uint32_t columns, bool colours);

/* Give the modules of these functions a column, if there is room. */
void top_layout_fit_modules(struct top_layout *layout, const struct function_count *functions,
			    size_t count);

void top_put_process_heading(struct text *text, const struct top_layout *layout);
void top_put_process(struct text *text, const struct top_layout *layout,
		     const struct top_process *process);

void top_put_function_heading(struct text *text, const struct top_layout *layout);
void top_put_function(struct text *text, const struct top_layout *layout,
		      const struct function_count *function);

/* `mark` is put before the name, such as "+ " in a tree that can be expanded. */
void top_put_node_heading(struct text *text, const struct top_layout *layout);
void top_put_node(struct text *text, const struct top_layout *layout,
		  const struct frame_tree_node *node, uint32_t depth, const char *mark);

/* Put the row that replaces a number of skipped frames along a path. */
void top_put_skipped(struct text *text, const struct top_layout *layout,
		     const struct frame_tree_node *node, uint32_t depth, uint32_t skipped);

#endif
