/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/write/text_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/scope.h"
#include "sink/write/columns.h"
#include "sink/write/escapes.h"

#define GAP_COLUMNS 2

static void end_cell(struct text_table *table)
{
	text_put(&table->bytes, "", 1);
	if (vec_push(&table->ends, table->bytes.bytes.size))
		table->bytes.failed = true;
}

void text_table_add(struct text_table *table, const char *s)
{
	text_put_string(&table->bytes, s);
	end_cell(table);
}

void text_table_printf(struct text_table *table, const char *format, ...)
{
	char s[64];
	va_list args;

	va_start(args, format);
	vsnprintf(s, sizeof(s), format, args);
	va_end(args);
	text_table_add(table, s);
}

void text_table_add_number(struct text_table *table, uint64_t value)
{
	if (value)
		text_put_number(&table->bytes, value, 0);
	end_cell(table);
}

void text_table_add_bytes(struct text_table *table, uint64_t bytes)
{
	if (bytes)
		text_put_bytes(&table->bytes, bytes, 0);
	end_cell(table);
}

void text_table_add_percent(struct text_table *table, uint64_t part, uint64_t whole)
{
	if (whole)
		text_printf(&table->bytes, "%.1f%%", 100.0 * (double)part / (double)whole);
	end_cell(table);
}

static const char *cell_at(const struct text_table *table, size_t i)
{
	return table->bytes.bytes.data + (i ? table->ends.data[i - 1] : 0);
}

/* Set the widths of columns; 0: the column has no cell. */
static void measure(const struct text_table *table, uint32_t widths[])
{
	for (uint32_t i = 0; i < table->column_count; i++)
		widths[i] = 0;
	for (size_t i = 0; i < table->ends.size; i++) {
		uint32_t *width = &widths[i % table->column_count];
		uint32_t columns = columns_of_name(cell_at(table, i), COLUMNS_ANY);

		*width = columns > *width ? columns : *width;
	}
	for (uint32_t i = 0; i < table->column_count; i++) {
		uint32_t columns = columns_of_name(table->columns[i].heading, COLUMNS_ANY);

		if (widths[i] && columns > widths[i])
			widths[i] = columns;
	}
}

/* Shorten the widest texts until a row fits. Returns false if it does not fit then. */
static bool shorten(const struct text_table *table, uint32_t limit, uint32_t widths[])
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < table->column_count; i++)
		all += widths[i] ? widths[i] + (all ? GAP_COLUMNS : 0) : 0;
	while (limit && all > limit) {
		uint32_t *widest = NULL;

		for (uint32_t i = 0; i < table->column_count; i++) {
			if (table->columns[i].is_text && widths[i] > TEXT_TABLE_TEXT_MIN &&
			    (!widest || widths[i] > *widest))
				widest = &widths[i];
		}
		if (!widest)
			return false;
		--*widest;
		all--;
	}
	return true;
}

/* Leave out the column with the highest number in `left_out`. Returns false if there is none. */
static bool leave_out(const struct text_table *table, uint32_t widths[])
{
	uint32_t *first = NULL;
	uint8_t highest = 0;

	for (uint32_t i = 0; i < table->column_count; i++) {
		if (!widths[i] || table->columns[i].left_out <= highest)
			continue;
		highest = table->columns[i].left_out;
		first = &widths[i];
	}
	if (first)
		*first = 0;
	return first;
}

/* Make a row fit: shorten texts, and where that does not suffice, leave out columns. */
static void fit(const struct text_table *table, uint32_t limit, uint32_t widths[])
{
	uint32_t whole[TEXT_TABLE_COLUMNS_MAX];

	do {
		memcpy(whole, widths, sizeof(whole));
		if (shorten(table, limit, widths))
			return;
	} while (leave_out(table, memcpy(widths, whole, sizeof(whole))));
	shorten(table, limit, widths);
}

static void put_spaces(struct text *text, uint32_t count)
{
	text_printf(text, "%*s", (int)count, "");
}

/* Put the cell of a column; a text in the last column is not padded. */
static void put_cell(const struct text_table *table, struct text *text, uint32_t column,
		     uint32_t width, bool last, const char *s)
{
	uint32_t used = columns_of_name(s, COLUMNS_ANY);

	if (!table->columns[column].is_text) {
		put_spaces(text, used < width ? width - used : 0);
		text_put_name(text, s, 0, 0);
	} else if (last) {
		columns_put_name(text, s, width);
	} else {
		columns_put_padded(text, s, width);
	}
}

static void put_row(const struct text_table *table, struct text *text, const uint32_t widths[],
		    size_t first)
{
	uint32_t last = 0;
	bool any = false;

	for (uint32_t i = 0; i < table->column_count; i++)
		last = widths[i] ? i : last;
	for (uint32_t i = 0; i < table->column_count; i++) {
		if (!widths[i])
			continue;
		put_spaces(text, any ? GAP_COLUMNS : 0);
		put_cell(table, text, i, widths[i], i == last,
			 first == SIZE_MAX ? table->columns[i].heading : cell_at(table, first + i));
		any = true;
	}
}

void text_table_put(const struct text_table *table, struct text *text, uint32_t limit, bool colours)
{
	uint32_t widths[TEXT_TABLE_COLUMNS_MAX] = {0};

	if (table->bytes.failed) {
		text->failed = true;
		return;
	}
	measure(table, widths);
	fit(table, limit, widths);
	text_put_string(text, colours ? ESCAPE_BOLD : "");
	put_row(table, text, widths, SIZE_MAX);
	text_put_string(text, colours ? ESCAPE_PLAIN "\n" : "\n");
	for (size_t i = 0; i + table->column_count <= table->ends.size; i += table->column_count) {
		put_row(table, text, widths, i);
		text_put_string(text, "\n");
	}
}

void text_table_deinit(struct text_table *table)
{
	text_deinit(&table->bytes);
	vec_deinit(&table->ends);
}
