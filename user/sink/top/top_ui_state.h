/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of a top_ui, which its files share: keys, rows and drawing. */
#ifndef JITBPF_SINK_TOP_TOP_UI_STATE_H
#define JITBPF_SINK_TOP_TOP_UI_STATE_H

#include <regex.h>

#include "sink/top/hot_tree.h"
#include "sink/top/top_model.h"
#include "sink/top/top_ui.h"

#define PROMPT_BYTES 200

enum top_tab { TAB_PROCESSES, TAB_FUNCTIONS, TAB_TREE, TAB_COUNT };

/* What the last line prompts for. */
enum top_prompt { PROMPT_NONE, PROMPT_SEARCH, PROMPT_NAME, PROMPT_PID, PROMPT_TID, PROMPT_COMM };

/* A row of the current table. */
struct top_row {
	uint64_t id;	/* identity, which does not change with the data */
	uint32_t index; /* of the model's list: of processes, functions or tree nodes */
	uint32_t depth; /* in the tree */
	bool open;	/* its children follow */
};

/*
 * A regular expression, and the results by label: 2 * the number of names in full that were
 * searched, plus 1 if one matches.
 */
struct top_pattern {
	bool set;
	char text[PROMPT_BYTES + 1];
	regex_t regex;
	VEC(uint8_t) matches;
};

struct top_place {
	bool chosen; /* the row of `id`; else whichever row is at `row` */
	uint64_t id;
	uint32_t row, first; /* of the selection, and of the screen's first line */
	uint32_t sort;
};

/* A node that was opened or closed by a key; identified by its path. */
struct top_fold {
	uint64_t path;
	bool open;
};

struct top_ui {
	struct view_options options;
	const struct view *all;	      /* of event 0, borrowed; NULL before the first one */
	const struct view *view;      /* that of the event that is shown */
	char event[EVENT_NAME_BYTES]; /* its name; "": of event 0 */
	struct top_model model;
	struct top_filter filter;
	struct top_pattern name, comm, search;
	enum top_tab tab;
	struct top_place places[TAB_COUNT];
	VEC(struct top_row) rows; /* of the current tab */
	VEC(struct top_fold) folds;
	struct index_map fold_index;
	uint32_t page; /* rows that the screen has had */
	enum top_prompt prompt;
	char typed[PROMPT_BYTES + 1];
	const char *said;
	bool paused, anew, help, ended, quits;
	struct text title, fates, runtimes; /* runtimes: empty if none has functions */
};

/* --- top_ui_rows.c: the rows of the current tab, and the selection ------------------- */

/* Rebuild texts, model and rows from the view. Returns 0 or -ENOMEM. */
int top_ui_refill(struct top_ui *ui);

/* Show the event of ui->event. */
void top_ui_choose_event(struct top_ui *ui);

/* List the rows. Returns 0 or -ENOMEM. */
int top_rows_list(struct top_ui *ui);

/* Select row number `row`, or the nearest one. */
void top_rows_select(struct top_ui *ui, int64_t row);

/* Returns the selected row, NULL if there is none. */
const struct top_row *top_rows_selected(const struct top_ui *ui);

/* Open or close a node of the tree. */
int top_rows_fold(struct top_ui *ui, uint32_t node, bool open);

/* Open the callers of a node, and select it. Returns 0 or -ENOMEM. */
int top_rows_reveal(struct top_ui *ui, uint32_t node);

uint32_t top_rows_label(const struct top_ui *ui, const struct top_row *row);

/* --- top_pattern.c ---------------------------------------------------------------------- */

/* Set a pattern; an empty text removes it. Returns NULL, or why the text is none. */
const char *top_pattern_set(struct top_pattern *pattern, const char *text);
void top_pattern_clear(struct top_pattern *pattern);

/* Returns true if a name of a label matches (label_table_names()); true without a pattern. */
bool top_pattern_matches(struct top_pattern *pattern, const struct label_table *labels,
			 uint32_t label);

#endif
