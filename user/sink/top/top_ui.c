/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/top/top_ui_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "profile/ledger.h"
#include "sink/run_text.h"

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
	free(ui);
}

/* --- data ---------------------------------------------------------------------------- */

/* Texts of the first two lines end with a NUL. */
static void put_texts(struct top_ui *ui)
{
	const struct run_info *info = ui->view->info;

	ui->title.bytes.size = ui->fates.bytes.size = 0;
	text_printf(&ui->title, "jitbpf top  %.0f s at %u Hz, %u CPU%s  ",
		    (double)info->duration_ns / 1e9, info->freq_hz, info->cpus,
		    info->cpus == 1 ? "" : "s");
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
	err = top_model_fill(&ui->model, &view, &ui->filter);
	err = err ?: top_rows_list(ui);
	return err ?: ui->title.failed || ui->fates.failed ? -ENOMEM : 0;
}

int top_ui_update(struct top_ui *ui, const struct view *view)
{
	ui->view = view;
	return ui->paused ? 0 : top_ui_refill(ui);
}

void top_ui_set_window(struct top_ui *ui, uint64_t window_ns)
{
	ui->filter.window_ns = window_ns;
}

void top_ui_say(struct top_ui *ui, const char *words)
{
	ui->said = words;
}

void top_ui_end(struct top_ui *ui)
{
	ui->ended = true;
}

bool top_ui_quits(const struct top_ui *ui)
{
	return ui->quits;
}
