/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rows of the summary: labels with numbers, and numbers with texts. They fit
 * view_options.columns; on a narrow terminal, labels and numbers have fewer columns, and texts that
 * are beside a number elsewhere have lines of their own.
 */
#ifndef JITBPF_SINK_FORMAT_SUMMARY_ROWS_H
#define JITBPF_SINK_FORMAT_SUMMARY_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "sink/ledger_rows.h"
#include "sink/sink.h"
#include "sink/write/text.h"

bool summary_rows_are_narrow(const struct view *view);

/* Returns the column of the text after a number at the begin of a row. */
uint32_t summary_rows_column(const struct view *view);

/* Put an escape sequence for a colour, if the output has colours. */
void summary_rows_put_colour(struct text *text, const struct view *view, const char *colour);

/* Put a line that begins a part of the summary. */
void summary_rows_put_heading(struct text *text, const struct view *view, const char *heading);

/* Put the lines about the run, the first one wrapped between its words. */
void summary_rows_put_run(struct text *text, const struct view *view);

/* Put a label and its number, without the end of the line. */
void summary_rows_put_count(struct text *text, const struct view *view, const char *label,
			    uint64_t value);

/* The same for a time, in seconds. */
void summary_rows_put_time(struct text *text, const struct view *view, const char *label,
			   uint64_t time_ns);

/* Put a label, its number, its share of a whole and the end of the line. */
void summary_rows_put_share(struct text *text, const struct view *view, const char *label,
			    uint64_t value, uint64_t whole);

/* Put a line for each count that is not 0. */
void summary_rows_put_reasons(struct text *text, const struct view *view,
			      const struct ledger_word *words, const uint64_t *counts, int count);

/* Put our own words ("": none) after a label and its number, and the end of the line. */
void summary_rows_put_note(struct text *text, const struct view *view, const char *words);

/* Put a number in front of its text, and in the next line what to do, unless next is NULL. */
void summary_rows_put(struct text *text, const struct view *view, const char *words,
		      const char *next, uint64_t value);

/* Put what to do, below the text of a row. */
void summary_rows_put_next(struct text *text, const struct view *view, const char *next);

#endif
