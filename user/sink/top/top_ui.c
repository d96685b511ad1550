/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/top/top_ui_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "profile/ledger.h"
#include "sink/run_text.h"
#include "sink/runtime_rows.h"

#define COMMAND_COLUMNS 300

int top_ui_create(const struct view_options *options, struct top_ui **ret)
{
	struct top_ui *ui = calloc(1, sizeof(*ui));
	int err;

	if (!ui)
		return -ENOMEM;
	ui->options = *options;
	ui->tab = TAB_FUNCTIONS;
	ui->page = 1;
	err = top_model_init(&ui->model);
	if (err) {
		top_ui_destroy(ui);
		return err;
	}
	*ret = ui;
	return 0;
}

void top_ui_destroy(struct top_ui *ui)
{
	if (!ui)
		return;
	top_model_deinit(&ui->model);
	top_pattern_clear(&ui->name);
	top_pattern_clear(&ui->comm);
	top_pattern_clear(&ui->search);
	vec_deinit(&ui->rows);
	vec_deinit(&ui->folds);
	index_map_deinit(&ui->fold_index);
	text_deinit(&ui->title);
	text_deinit(&ui->fates);
	text_deinit(&ui->runtimes);
	free(ui);
}

/* --- data ---------------------------------------------------------------------------- */

/* Put what the summary says of the runtime with most samples. */
static int put_runtimes(struct top_ui *ui)
{
	runtime_rows rows = {0};
	int err = runtime_rows_fill(ui->view->ledger, &rows);

	ui->runtimes.bytes.size = 0;
	if (!err && rows.size) {
		runtime_row_put(&ui->runtimes, &rows.data[0]);
		if (rows.size > 1)
			text_printf(&ui->runtimes, "  (and %zu more)", rows.size - 1);
		text_put(&ui->runtimes, "", 1);
	}
	vec_deinit(&rows);
	return err ?: ui->runtimes.failed ? -ENOMEM : 0;
}

/* Texts of the first lines end with a NUL. */
static void put_texts(struct top_ui *ui)
{
	const struct run_info *info = ui->view->info;

	ui->title.bytes.size = ui->fates.bytes.size = 0;
	text_printf(&ui->title, "jitbpf top  %.0f s", (double)info->duration_ns / 1e9);
	if (ui->view->by_event)
		run_text_put_event(&ui->title, info);
	else
		text_printf(&ui->title, " at %u Hz", info->freq_hz);
	text_printf(&ui->title, ", %u CPU%s  ", info->cpus, info->cpus == 1 ? "" : "s");
	text_put_name_cut(&ui->title, *info->command ? info->command : "the whole system",
			  COMMAND_COLUMNS);
	text_put(&ui->title, "", 1);
	run_text_put_fates(&ui->fates, ui->view->ledger);
	text_put(&ui->fates, "", 1);
}

int top_ui_refill(struct top_ui *ui)
{
	struct view view;
	int err;

	if (!ui->view)
		return 0;
	view = *ui->view;
	view.options = ui->options;
	ui->filter.comm = ui->comm.set ? &ui->comm.regex : NULL;
	put_texts(ui);
	err = put_runtimes(ui);
	err = err ?: top_model_fill(&ui->model, &view, &ui->filter);
	err = err ?: top_rows_list(ui);
	return err ?: ui->title.failed || ui->fates.failed ? -ENOMEM : 0;
}

void top_ui_choose_event(struct top_ui *ui)
{
	const struct view *all = ui->all;

	ui->view = all;
	for (uint32_t i = 1; all->by_event && i <= all->info->more_events; i++) {
		if (!strcmp(ui->event, all->by_event[i]->info->event))
			ui->view = all->by_event[i];
	}
}

void top_ui_set_event(struct top_ui *ui, const char *name)
{
	snprintf(ui->event, sizeof(ui->event), "%s", name);
}

int top_ui_update(struct top_ui *ui, const struct view *view)
{
	ui->all = view;
	top_ui_choose_event(ui);
	return ui->paused ? 0 : top_ui_refill(ui);
}

void top_ui_set_window(struct top_ui *ui, uint64_t window_ns)
{
	ui->filter.window_ns = window_ns;
}

void top_ui_end(struct top_ui *ui)
{
	ui->ended = true;
}

bool top_ui_quits(const struct top_ui *ui)
{
	return ui->quits;
}
