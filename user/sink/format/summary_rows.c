/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/format/summary_rows.h"

#include <string.h>

#include "base/scope.h"
#include "sink/ledger_rows.h"
#include "sink/run_text.h"
#include "sink/write/escapes.h"
#include "sink/write/paragraph.h"

#define COMMAND_COLUMNS 1000
#define NARROW_COLUMNS	80 /* terminals with fewer columns get narrower rows */

bool summary_rows_are_narrow(const struct view *view)
{
	return view->options.columns && view->options.columns < NARROW_COLUMNS;
}

static uint32_t label_columns(const struct view *view)
{
	return summary_rows_are_narrow(view) ? 22 : 28;
}

static uint32_t number_columns(const struct view *view)
{
	return summary_rows_are_narrow(view) ? 9 : 14;
}

uint32_t summary_rows_column(const struct view *view)
{
	return number_columns(view) + 2;
}

void summary_rows_put_colour(struct text *text, const struct view *view, const char *colour)
{
	text_put_string(text, view->options.colours ? colour : "");
}

void summary_rows_put_heading(struct text *text, const struct view *view, const char *heading)
{
	summary_rows_put_colour(text, view, ESCAPE_BOLD);
	text_printf(text, "%s\n", heading);
	summary_rows_put_colour(text, view, ESCAPE_PLAIN);
}

/* Put a number in front of its text, which goes on behind the column of the numbers. */
static void put_words(struct text *text, const struct view *view, uint64_t value, const char *words)
{
	size_t begin = text->bytes.size;

	text_put_number(text, value, number_columns(view));
	text_put_string(text, "  ");
	paragraph_put(text, words, (uint32_t)(text->bytes.size - begin), summary_rows_column(view),
		      view->options.columns);
	text_put_string(text, "\n");
}

void summary_rows_put_count(struct text *text, const struct view *view, const char *label,
			    uint64_t value)
{
	text_printf(text, "%-*s", (int)label_columns(view), label);
	text_put_number(text, value, number_columns(view));
}

void summary_rows_put_time(struct text *text, const struct view *view, const char *label,
			   uint64_t time_ns)
{
	text_printf(text, "%-*s%*.3f s", (int)label_columns(view), label,
		    (int)number_columns(view) - 2, (double)time_ns / 1e9);
}

void summary_rows_put_share(struct text *text, const struct view *view, const char *label,
			    uint64_t value, uint64_t whole)
{
	summary_rows_put_count(text, view, label, value);
	text_printf(text, "%s%5.1f %%\n", summary_rows_are_narrow(view) ? " " : "  ",
		    run_text_percent(value, whole));
}

void summary_rows_put_reasons(struct text *text, const struct view *view,
			      const struct ledger_word *words, const uint64_t *counts, int count)
{
	for (int i = 0; i < count; i++) {
		if (!counts[i])
			continue;
		if (summary_rows_are_narrow(view)) {
			put_words(text, view, counts[i], words[i].words);
		} else {
			summary_rows_put_count(text, view, "", counts[i]);
			text_printf(text, "  %s\n", words[i].words);
		}
	}
}

void summary_rows_put_note(struct text *text, const struct view *view, const char *words)
{
	uint32_t column =
		summary_rows_are_narrow(view) ? 2 : label_columns(view) + number_columns(view) + 2;

	if (*words) {
		text_put_string(text, summary_rows_are_narrow(view) ? "\n  " : "  ");
		paragraph_put(text, words, column, column, view->options.columns);
	}
	text_put_string(text, "\n");
}

void summary_rows_put_next(struct text *text, const struct view *view, const char *next)
{
	const uint32_t indent = summary_rows_column(view);
	CLEANUP(text_deinit) struct text fitting = {0};

	ledger_put_next(&fitting, next, view->info->command);
	text_put(&fitting, "", 1);
	text->failed |= fitting.failed;
	if (fitting.failed)
		return;
	text_printf(text, "%*snext: ", (int)indent, "");
	paragraph_put(text, fitting.bytes.data, indent + 6, indent, view->options.columns);
	text_put_string(text, "\n");
}

void summary_rows_put(struct text *text, const struct view *view, const char *words,
		      const char *next, uint64_t value)
{
	put_words(text, view, value, words);
	if (next)
		summary_rows_put_next(text, view, next);
}

void summary_rows_put_run(struct text *text, const struct view *view)
{
	uint32_t columns = view->options.columns;
	CLEANUP(text_deinit) struct text run = {0};
	char *end;

	run_text_put(&run, view->info, columns ?: COMMAND_COLUMNS);
	text_put(&run, "", 1);
	text->failed |= run.failed;
	if (run.failed)
		return;
	end = strchrnul(run.bytes.data, '\n');
	if (*end)
		*end++ = '\0';
	paragraph_put(text, run.bytes.data, 0, 0, columns);
	text_printf(text, "\n%s", end);
}
