/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A table of text. Columns are as wide as their widest cell, and a column without any cell is left
 * out. Rows fit a terminal: texts are shortened as columns_put_name() shortens them, and then
 * columns that may be left out are.
 */
#ifndef JITBPF_SINK_WRITE_TEXT_TABLE_H
#define JITBPF_SINK_WRITE_TEXT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "sink/write/text.h"

#define TEXT_TABLE_COLUMNS_MAX 12
#define TEXT_TABLE_TEXT_MIN    8 /* columns of the terminal that a text keeps */

struct text_column {
	const char *heading;
	bool is_text; /* left-aligned, and shortened where there is no room; else a number */
	/* Where shortened texts do not suffice, the highest number is left out first; 0: never. */
	uint8_t left_out;
};

/* Set columns (borrowed) and column_count; the rest is zero. The owner calls text_table_deinit().
 */
struct text_table {
	const struct text_column *columns;
	uint32_t column_count;
	struct text bytes; /* of all cells */
	VEC(size_t) ends;  /* of each cell, row by row */
};

/* Add the next cell, untrusted text; "" leaves it empty. A failure is returned at the end. */
void text_table_add(struct text_table *table, const char *s);
__attribute__((format(printf, 2, 3))) void text_table_printf(struct text_table *table,
							     const char *format, ...);

/* The same for numbers, of which 0 is an empty cell. */
void text_table_add_number(struct text_table *table, uint64_t value);
void text_table_add_bytes(struct text_table *table, uint64_t bytes);
/* A share, empty if there is no whole. */
void text_table_add_percent(struct text_table *table, uint64_t part, uint64_t whole);

/*
 * Put the headings and the rows, each with a newline. limit: width of the terminal; 0: none. With
 * colours, headings are bold.
 */
void text_table_put(const struct text_table *table, struct text *text, uint32_t limit,
		    bool colours);

void text_table_deinit(struct text_table *table);

#endif
