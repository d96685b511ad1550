/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/top/top_ui_state.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "sink/write/columns.h"
#include "sink/write/paragraph.h"

#define LINES_ABOVE 4 /* title, fates, tabs, heading */
#define LINES_BELOW 1
#define ROWS_ROOMY  14 /* a screen that has room for a line on runtimes */
#define HELP_INDENT 14

/* What keys do. */
static const struct {
	const char *keys, *words;
} help[] = {
	{"1 2 3, Tab", "processes, functions, tree"},
	{"Up Down j k", "select; PageUp PageDown, Home g, End G"},
	{"Enter, Space", "process: only its functions; function: its place in the tree; frame: "
			 "open or close, as Right and Left do"},
	{"s", "sort by the next column"},
	{"/  n  N", "search a name (a regular expression), next, previous"},
	{"f", "show only names that match; in the tree, callers and callees, too"},
	{"P  T  C", "only a process, a thread, or commands that match; empty: all"},
	{"K  R  I", "frames of the kernel, of interpreters, inlined ones: on and off"},
	{"Esc", "no filters, no search"},
	{"w", "only the last 60 s, the last 10 s, all"},
	{"e", "the next event, if the run samples several (-e)"},
	{"z", "only samples from now on; again: all"},
	{"p", "pause: the screen stands still; a new filter shows new samples"},
	{"q, Ctrl-C", "end"},
	{"", ""},
	{"", "Shares are of the samples that the filters show. Any key continues."},
};

void top_canvas_deinit(struct top_canvas *canvas)
{
	vec_for_each (line, &canvas->lines)
		text_deinit(&line->text);
	vec_deinit(&canvas->lines);
}

/* Begin the next line; NULL without memory. */
static struct text *next_line(struct top_canvas *canvas, enum top_style style)
{
	if (vec_push(&canvas->lines, (struct top_line){.style = style}))
		return NULL;
	return &canvas->lines.data[canvas->lines.size - 1].text;
}

/* Put a line of trusted and untrusted words, cut to the width. */
static int put_line(struct top_canvas *canvas, enum top_style style, const char *words,
		    uint32_t columns)
{
	struct text *text = next_line(canvas, style);

	if (!text)
		return -ENOMEM;
	columns_put_name(text, words, columns);
	return text->failed ? -ENOMEM : 0;
}

/* --- the lines around the table ------------------------------------------------------ */

static void put_filters(const struct top_ui *ui, struct text *text)
{
	if (ui->view && ui->view->event) {
		text_put_string(text, "  ");
		text_put_name_cut(text, ui->view->info->event, EVENT_NAME_BYTES);
	}
	if (ui->filter.window_ns)
		text_printf(text, "  last %.10g s", (double)ui->filter.window_ns / 1e9);
	if (ui->filter.pid)
		text_printf(text, "  process %u", ui->filter.pid);
	if (ui->filter.tid)
		text_printf(text, "  thread %u", ui->filter.tid);
	if (ui->comm.set)
		text_printf(text, "  command /%s/", ui->comm.text);
	if (ui->name.set)
		text_printf(text, "  name /%s/", ui->name.text);
	if (ui->search.set)
		text_printf(text, "  search /%s/", ui->search.text);
	if (ui->options.kernel == VIEW_KERNEL_HIDDEN)
		text_put_string(text, "  no kernel frames");
	if (ui->options.interpreter == VIEW_INTERPRETER_SHOWN)
		text_put_string(text, "  with interpreters");
	if (ui->options.no_inline)
		text_put_string(text, "  no inlined frames");
	if (ui->anew)
		text_put_string(text, "  new samples only");
	if (ui->paused)
		text_put_string(text, "  PAUSED");
}

static int put_tabs(const struct top_ui *ui, uint32_t columns, struct top_canvas *canvas)
{
	static const char *const names[TAB_COUNT] = {"1 processes", "2 functions", "3 tree"};
	static const char *const sorts[TAB_COUNT][3] = {
		{"samples", "pid", "name"}, {"self", "total", "name"}, {"samples"}};
	CLEANUP(text_deinit) struct text text = {0};

	for (int i = 0; i < TAB_COUNT; i++)
		text_printf(&text, i == (int)ui->tab ? "[%s] " : " %s  ", names[i]);
	text_printf(&text, " by %s", sorts[ui->tab][ui->places[ui->tab].sort]);
	put_filters(ui, &text);
	text_put(&text, "", 1);
	return text.failed ? -ENOMEM : put_line(canvas, TOP_STATUS, text.bytes.data, columns);
}

static int put_last(const struct top_ui *ui, uint32_t columns, struct top_canvas *canvas)
{
	static const char *const asks[] = {
		[PROMPT_SEARCH] = "search: ",		[PROMPT_NAME] = "only names like: ",
		[PROMPT_PID] = "only process (pid): ",	[PROMPT_TID] = "only thread (tid): ",
		[PROMPT_COMM] = "only commands like: ",
	};
	char words[PROMPT_BYTES + 40];

	if (ui->prompt) {
		snprintf(words, sizeof(words), "%s%s_", asks[ui->prompt], ui->typed);
		return put_line(canvas, TOP_STATUS, words, columns);
	}
	if (ui->said)
		return put_line(canvas, TOP_STATUS, ui->said, columns);
	if (ui->ended)
		return put_line(canvas, TOP_STATUS, "the run has ended   q end   ? help", columns);
	return put_line(
		canvas, TOP_STATUS,
		ui->view && ui->view->by_event
			? "q end   ? help   e event   / search   f filter   s sort   p pause"
			: "q end   ? help   / search   f filter   s sort   p pause",
		columns);
}

static int put_help(uint32_t rows, uint32_t columns, struct top_canvas *canvas)
{
	for (size_t i = 0; i < ARRAY_SIZE(help); i++) {
		uint32_t indent = *help[i].keys ? HELP_INDENT : 0;
		CLEANUP(text_deinit) struct text text = {0};
		char *rest, *line;

		text_printf(&text, "%-*s", (int)indent, help[i].keys);
		paragraph_put(&text, help[i].words, indent, indent, columns);
		text_put(&text, "", 1);
		if (text.failed)
			return -ENOMEM;
		rest = text.bytes.data;
		while ((line = strsep(&rest, "\n")) && canvas->lines.size < rows)
			if (put_line(canvas, TOP_PLAIN, line, columns))
				return -ENOMEM;
	}
	return 0;
}

/* --- the table ----------------------------------------------------------------------- */

static enum top_style style_of(const struct top_ui *ui, uint32_t row)
{
	static const enum top_style styles[] = {
		[FRAME_COLOUR_NONE] = TOP_PLAIN,
		[FRAME_COLOUR_CYAN] = TOP_CYAN,
		[FRAME_COLOUR_YELLOW] = TOP_YELLOW,
		[FRAME_COLOUR_GREEN] = TOP_GREEN,
	};
	uint32_t label = top_rows_label(ui, &ui->rows.data[row]);
	uint32_t kind = label_table_get(&ui->model.labels, label)->kind;

	if (row == ui->places[ui->tab].row)
		return TOP_SELECTED;
	if (kind == LABEL_KIND_PROCESS)
		return ui->tab == TAB_TREE ? TOP_BOLD : TOP_PLAIN;
	return styles[frame_kind_info(kind)->colour];
}

static void put_row(const struct top_ui *ui, const struct top_layout *layout,
		    const struct top_row *row, struct text *text)
{
	const struct frame_tree_node *node;

	if (ui->tab == TAB_PROCESSES) {
		top_put_process(text, layout, &ui->model.processes.data[row->index]);
	} else if (ui->tab == TAB_FUNCTIONS) {
		top_put_function(text, layout, &ui->model.functions.data[row->index]);
	} else {
		node = &ui->model.tree.nodes.data[row->index];
		top_put_node(text, layout, node, row->depth,
			     node->first_child == FRAME_TREE_NONE ? "  "
			     : row->open			  ? "- "
								  : "+ ");
	}
}

static void put_heading(const struct top_ui *ui, const struct top_layout *layout, struct text *text)
{
	if (ui->tab == TAB_PROCESSES)
		top_put_process_heading(text, layout);
	else if (ui->tab == TAB_FUNCTIONS)
		top_put_function_heading(text, layout);
	else
		top_put_node_heading(text, layout);
}

/* Scroll so that the selection is on the screen. */
static void scroll(struct top_ui *ui)
{
	struct top_place *place = &ui->places[ui->tab];
	uint32_t count = (uint32_t)ui->rows.size;

	if (place->row < place->first)
		place->first = place->row;
	else if (place->row >= place->first + ui->page)
		place->first = place->row - ui->page + 1;
	if (place->first + ui->page > count)
		place->first = count > ui->page ? count - ui->page : 0;
}

static int put_table(struct top_ui *ui, uint32_t columns, struct top_canvas *canvas)
{
	const struct top_place *place = &ui->places[ui->tab];
	uint32_t end;
	struct top_layout layout;
	struct text *text;

	scroll(ui);
	end = place->first + ui->page < ui->rows.size ? place->first + ui->page
						      : (uint32_t)ui->rows.size;
	top_layout_init(&layout, &ui->model.labels, ui->model.samples, columns, false);
	if (ui->tab == TAB_FUNCTIONS)
		top_layout_fit_modules(&layout, ui->model.functions.data,
				       ui->model.functions.size < 100 ? ui->model.functions.size
								      : 100);
	text = next_line(canvas, TOP_BOLD);
	if (!text)
		return -ENOMEM;
	put_heading(ui, &layout, text);
	for (uint32_t i = place->first; i < end; i++) {
		text = next_line(canvas, style_of(ui, i));
		if (!text)
			return -ENOMEM;
		put_row(ui, &layout, &ui->rows.data[i], text);
	}
	return 0;
}

/* --- all ----------------------------------------------------------------------------- */

int top_ui_draw(struct top_ui *ui, uint32_t rows, uint32_t columns, struct top_canvas *canvas)
{
	bool runtimes = ui->runtimes.bytes.size && rows >= ROWS_ROOMY;
	uint32_t around = LINES_ABOVE + LINES_BELOW + runtimes;
	int err;

	columns = columns > TOP_COLUMNS_MIN ? columns : TOP_COLUMNS_MIN;
	vec_for_each (line, &canvas->lines)
		text_deinit(&line->text);
	canvas->lines.size = 0;
	ui->page = rows > around ? rows - around : 1;
	if (ui->help)
		return put_help(rows, columns, canvas);
	err = put_line(canvas, TOP_PLAIN, ui->title.bytes.data ?: "jitbpf top", columns);
	err = err ?: put_line(canvas, TOP_PLAIN, ui->fates.bytes.data ?: "", columns);
	if (runtimes)
		err = err ?: put_line(canvas, TOP_PLAIN, ui->runtimes.bytes.data, columns);
	err = err ?: put_tabs(ui, columns, canvas);
	err = err ?: put_table(ui, columns, canvas);
	while (!err && canvas->lines.size + LINES_BELOW < rows)
		err = put_line(canvas, TOP_PLAIN, "", columns);
	err = err ?: put_last(ui, columns, canvas);
	vec_for_each (line, &canvas->lines)
		err = err ?: line->text.failed ? -ENOMEM : 0;
	return err;
}
