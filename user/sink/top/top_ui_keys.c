/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the keys of a top_ui do. */
#include "sink/top/top_ui_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"

#define SECOND_NS 1000000000ull

/* --- the line that is typed ---------------------------------------------------------- */

static int find_next(struct top_ui *ui, int step);

/*
 * Set a filter to a decimal number; "" sets 0, no filter. Returns false if the text is no number.
 */
static bool set_number(const char *text, uint32_t *ret)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*end || value > INT32_MAX || *text == '-')
		return false;
	*ret = (uint32_t)value;
	return true;
}

static int accept_typed(struct top_ui *ui)
{
	enum top_prompt prompt = ui->prompt;
	uint32_t *number = prompt == PROMPT_PID ? &ui->filter.pid : &ui->filter.tid;

	ui->prompt = PROMPT_NONE;
	if (prompt == PROMPT_PID || prompt == PROMPT_TID) {
		if (!set_number(ui->typed, number))
			ui->said = "this is no number";
		return top_ui_refill(ui);
	}
	if (prompt == PROMPT_SEARCH) {
		ui->said = top_pattern_set(&ui->search, ui->typed);
		return ui->said ? 0 : find_next(ui, 1);
	}
	ui->said = top_pattern_set(prompt == PROMPT_NAME ? &ui->name : &ui->comm, ui->typed);
	return top_ui_refill(ui);
}

/* Remove the last character. */
static void erase(char *typed)
{
	size_t size = strlen(typed);

	while (size && (typed[size - 1] & 0xc0) == 0x80)
		size--;
	typed[size ? size - 1 : 0] = 0;
}

static void type_character(char *typed, uint32_t code)
{
	size_t size = strlen(typed);
	int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;

	if (code < ' ' || code == 0x7f || code >= TOP_KEY_UP || size + 4 > PROMPT_BYTES)
		return;
	if (!more)
		typed[size++] = (char)code;
	else
		typed[size++] = (char)((0xf00 >> (more + 1) & 0xff) | code >> 6 * more);
	while (more--)
		typed[size++] = (char)(0x80 | (code >> 6 * more & 0x3f));
	typed[size] = 0;
}

static int type(struct top_ui *ui, uint32_t key)
{
	if (key == TOP_KEY_ENTER || key == '\r')
		return accept_typed(ui);
	if (key == TOP_KEY_ESCAPE)
		ui->prompt = PROMPT_NONE;
	else if (key == TOP_KEY_BACKSPACE || key == 0x7f || key == 8)
		erase(ui->typed);
	else
		type_character(ui->typed, key);
	return 0;
}

static void ask(struct top_ui *ui, enum top_prompt prompt)
{
	ui->prompt = prompt;
	ui->typed[0] = 0;
}

/* --- searching ----------------------------------------------------------------------- */

/* No row matches: open the path to the matching node with most samples. */
static int reveal_match(struct top_ui *ui)
{
	const struct frame_tree *tree = &ui->model.tree;
	uint32_t best = 0;

	for (uint32_t i = 1; i < tree->nodes.size; i++) {
		if (top_pattern_matches(&ui->search, &ui->model.labels,
					tree->nodes.data[i].label) &&
		    (!best || tree->nodes.data[i].total > tree->nodes.data[best].total))
			best = i;
	}
	if (best)
		return top_rows_reveal(ui, best);
	ui->said = "nothing matches";
	return 0;
}

static int find_next(struct top_ui *ui, int step)
{
	size_t count = ui->rows.size, at = ui->places[ui->tab].row;

	if (!ui->search.set)
		return 0;
	for (size_t i = 0; i < count; i++) {
		at = (at + count + (size_t)step) % count;
		if (top_pattern_matches(&ui->search, &ui->model.labels,
					top_rows_label(ui, &ui->rows.data[at]))) {
			top_rows_select(ui, (int64_t)at);
			return 0;
		}
	}
	if (ui->tab == TAB_TREE && ui->model.tree.nodes.size)
		return reveal_match(ui);
	ui->said = "nothing matches";
	return 0;
}

/* --- keys ---------------------------------------------------------------------------- */

static int switch_to(struct top_ui *ui, uint32_t tab)
{
	ui->tab = (enum top_tab)(tab % TAB_COUNT);
	return top_rows_list(ui);
}

/* Show the function's place in the tree with most samples. */
static int show_in_tree(struct top_ui *ui, uint32_t label)
{
	const struct frame_tree *tree = &ui->model.tree;
	uint32_t best = 0;

	for (uint32_t i = 1; i < tree->nodes.size; i++) {
		if (tree->nodes.data[i].label == label &&
		    (!best || tree->nodes.data[i].total > tree->nodes.data[best].total))
			best = i;
	}
	return best ? top_rows_reveal(ui, best) : 0;
}

static int enter(struct top_ui *ui)
{
	const struct top_row *row = top_rows_selected(ui);

	if (!row)
		return 0;
	if (ui->tab == TAB_FUNCTIONS)
		return show_in_tree(ui, ui->model.functions.data[row->index].label);
	if (ui->tab == TAB_PROCESSES) {
		ui->filter.pid = ui->model.processes.data[row->index].pid;
		ui->tab = TAB_FUNCTIONS;
		return top_ui_refill(ui);
	}
	top_rows_select(ui, ui->places[TAB_TREE].row);
	return top_rows_fold(ui, row->index, !row->open) ?: top_rows_list(ui);
}

/* Open or close the selected node. Closing a closed node closes its parent. */
static int fold(struct top_ui *ui, bool open)
{
	const struct top_row *row = top_rows_selected(ui);
	uint32_t parent;

	if (!row || ui->tab != TAB_TREE)
		return 0;
	parent = ui->model.tree.nodes.data[row->index].parent;
	if (!open && !row->open && parent)
		return top_rows_reveal(ui, parent);
	top_rows_select(ui, ui->places[TAB_TREE].row);
	return top_rows_fold(ui, row->index, open) ?: top_rows_list(ui);
}

static int sort_next(struct top_ui *ui)
{
	static const uint32_t sorts[TAB_COUNT] = {3, 3, 1};
	struct top_place *place = &ui->places[ui->tab];

	place->sort = (place->sort + 1) % sorts[ui->tab];
	return top_rows_list(ui);
}

static int begin_anew(struct top_ui *ui)
{
	int err = 0;

	if (!ui->view)
		return 0;
	ui->anew = !ui->anew;
	if (ui->anew)
		err = top_model_begin_anew(&ui->model, ui->all);
	else
		top_model_show_all(&ui->model);
	return err ?: top_ui_refill(ui);
}

static int show_everything(struct top_ui *ui)
{
	top_pattern_clear(&ui->name);
	top_pattern_clear(&ui->comm);
	top_pattern_clear(&ui->search);
	ui->filter = (struct top_filter){.window_ns = ui->filter.window_ns};
	return top_ui_refill(ui);
}

/* All samples, then shorter windows. */
static int next_window(struct top_ui *ui)
{
	static const uint64_t windows[] = {0, 60 * SECOND_NS, 10 * SECOND_NS};
	size_t at = 0;

	while (at < ARRAY_SIZE(windows) - 1 && windows[at] != ui->filter.window_ns)
		at++;
	ui->filter.window_ns = windows[(at + 1) % ARRAY_SIZE(windows)];
	return top_ui_refill(ui);
}

static int next_event(struct top_ui *ui)
{
	const struct view *all = ui->all;
	uint32_t next;

	if (!all || !all->by_event) {
		ui->said = "this run samples CPU time only; -e adds events";
		return 0;
	}
	next = (ui->view->event + 1) % (all->info->more_events + 1);
	top_ui_set_event(ui, next ? all->by_event[next]->info->event : "");
	top_ui_choose_event(ui);
	return top_ui_refill(ui);
}

/* Returns true if the key moves the selection. */
static bool move(struct top_ui *ui, uint32_t key)
{
	int64_t row = ui->places[ui->tab].row, last = (int64_t)ui->rows.size - 1;

	if (key == TOP_KEY_UP || key == 'k')
		row--;
	else if (key == TOP_KEY_DOWN || key == 'j')
		row++;
	else if (key == TOP_KEY_PAGE_UP)
		row -= ui->page;
	else if (key == TOP_KEY_PAGE_DOWN)
		row += ui->page;
	else if (key == TOP_KEY_HOME || key == 'g')
		row = 0;
	else if (key == TOP_KEY_END || key == 'G')
		row = last;
	else
		return false;
	top_rows_select(ui, row);
	return true;
}

static int toggle(struct top_ui *ui, uint32_t key)
{
	if (key == 'K')
		ui->options.kernel = ui->options.kernel == VIEW_KERNEL_HIDDEN ? VIEW_KERNEL_SHOWN
									      : VIEW_KERNEL_HIDDEN;
	else if (key == 'R')
		ui->options.interpreter = ui->options.interpreter == VIEW_INTERPRETER_SHOWN
						  ? VIEW_INTERPRETER_HIDDEN
						  : VIEW_INTERPRETER_SHOWN;
	else if (key == 'I')
		ui->options.no_inline = !ui->options.no_inline;
	else if (key == 'p')
		ui->paused = !ui->paused;
	return top_ui_refill(ui);
}

static int command(struct top_ui *ui, uint32_t key)
{
	switch (key) {
	case 'q':
		ui->quits = true;
		return 0;
	case '?':
	case 'h':
		ui->help = true;
		return 0;
	case '1':
	case '2':
	case '3':
		return switch_to(ui, key - '1');
	case '\t':
		return switch_to(ui, ui->tab + 1);
	case TOP_KEY_TAB_BACK:
		return switch_to(ui, ui->tab + TAB_COUNT - 1);
	case TOP_KEY_ENTER:
	case '\r':
	case ' ':
		return enter(ui);
	case TOP_KEY_RIGHT:
	case TOP_KEY_LEFT:
		return fold(ui, key == TOP_KEY_RIGHT);
	case 'n':
	case 'N':
		return find_next(ui, key == 'n' ? 1 : -1);
	case 's':
		return sort_next(ui);
	case 'z':
		return begin_anew(ui);
	case 'w':
		return next_window(ui);
	case 'e':
		return next_event(ui);
	case TOP_KEY_ESCAPE:
		return show_everything(ui);
	case 'p':
	case 'K':
	case 'R':
	case 'I':
		return toggle(ui, key);
	case '/':
		ask(ui, PROMPT_SEARCH);
		return 0;
	case 'f':
		ask(ui, PROMPT_NAME);
		return 0;
	case 'P':
		ask(ui, PROMPT_PID);
		return 0;
	case 'T':
		ask(ui, PROMPT_TID);
		return 0;
	case 'C':
		ask(ui, PROMPT_COMM);
		return 0;
	default:
		return 0;
	}
}

int top_ui_key(struct top_ui *ui, uint32_t key)
{
	ui->said = NULL;
	if (ui->help) {
		ui->help = false;
		return 0;
	}
	if (ui->prompt)
		return type(ui, key);
	return move(ui, key) ? 0 : command(ui, key);
}
