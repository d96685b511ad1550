/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes firefox_tables as JSON: each table is an object of columns.
 *
 * Frames have no address. Only the file offset is known, which the Profiler would take for an
 * address relative to the load address.
 */
#include "sink/format/firefox_tables.h"

#include <string.h>

#include "base/scope.h"

/* A column of a table: a member of the rows, or a constant. */
struct column {
	const char *key;
	size_t offset, bytes;
	const char *none; /* text for ROW_NONE; NULL: it does not occur */
	const char *same;
};

/* A member of type uint32_t or uint64_t. */
#define COLUMN(key, type, member, none)                                                            \
	{                                                                                          \
		key, offsetof(struct type, member), sizeof(((struct type *)0)->member), none, NULL \
	}
#define COLUMN_SAME(key, literal)                                                                  \
	{                                                                                          \
		key, 0, 0, NULL, literal                                                           \
	}

/* The column of rows that are one uint32_t. */
#define COLUMN_ONLY(key)                                                                           \
	{                                                                                          \
		key, 0, sizeof(uint32_t), NULL, NULL                                               \
	}

static const struct column stack_columns[] = {
	COLUMN("frame", stack_row, frame, NULL),
};

static const struct column frame_columns[] = {
	COLUMN_SAME("address", "-1"),
	COLUMN("lib", firefox_frame, lib, "-1"),
	COLUMN("inlineDepth", firefox_frame, inline_depth, NULL),
	COLUMN("category", firefox_frame, category, NULL),
	COLUMN("subcategory", firefox_frame, subcategory, NULL),
	COLUMN("func", firefox_frame, func, NULL),
	COLUMN("nativeSymbol", firefox_frame, symbol, "null"),
	COLUMN_SAME("innerWindowID", "0"),
	COLUMN("line", firefox_frame, line, "null"),
	COLUMN_SAME("column", "null"),
	COLUMN_SAME("originalLocation", "null"),
};

static const struct column func_columns[] = {
	COLUMN("name", firefox_func, name, NULL),
	COLUMN_SAME("isJS", "false"),
	COLUMN_SAME("relevantForJS", "false"),
	COLUMN("resource", firefox_func, resource, NULL),
	COLUMN("source", firefox_func, source, "null"),
	COLUMN_SAME("lineNumber", "null"),
	COLUMN_SAME("columnNumber", "null"),
	COLUMN_SAME("originalLocation", "null"),
};

static const struct column symbol_columns[] = {
	COLUMN("libIndex", firefox_symbol, lib, NULL),
	COLUMN("address", firefox_symbol, address, NULL),
	COLUMN("name", firefox_symbol, name, NULL),
	COLUMN_SAME("functionSize", "null"),
};

static const struct column resource_columns[] = {
	COLUMN_ONLY("name"), COLUMN_SAME("host", "null"), COLUMN_SAME("type", "1"), /* a library */
};

static const struct column source_columns[] = {
	COLUMN_SAME("id", "null"),	     COLUMN_ONLY("filename"),
	COLUMN_SAME("startLine", "1"),	     COLUMN_SAME("startColumn", "1"),
	COLUMN_SAME("sourceMapURL", "null"), COLUMN_SAME("content", "null"),
};

/* For source maps; the table is empty. */
static const struct column source_location_columns[] = {
	COLUMN_ONLY("source"),
	COLUMN_ONLY("line"),
	COLUMN_ONLY("column"),
};

static uint64_t value_of(const struct column *column, const uint8_t *row)
{
	uint32_t narrow;
	uint64_t wide;

	if (column->bytes == sizeof(wide)) {
		memcpy(&wide, row + column->offset, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, row + column->offset, sizeof(narrow));
	return narrow;
}

static void write_column(struct json *json, const struct column *column,
			 const struct row_table *table)
{
	json_key(json, column->key);
	json_begin(json, '[');
	for (uint32_t i = 0; i < table->count; i++) {
		const char *literal = column->same;
		uint64_t value = literal ? 0 : value_of(column, row_table_get(table, i));

		if (!literal && column->none && value == ROW_NONE)
			literal = column->none;
		if (literal)
			json_literal(json, literal);
		else
			json_number(json, value);
	}
	json_end(json, ']');
}

static void begin_table(struct json *json, const char *key, const struct row_table *table,
			const struct column *columns, size_t column_count)
{
	json_key(json, key);
	json_begin(json, '{');
	json_member_number(json, "length", table->count);
	for (size_t i = 0; i < column_count; i++)
		write_column(json, &columns[i], table);
}

#define WRITE_TABLE(json, key, table, columns)                                                     \
	do {                                                                                       \
		begin_table(json, key, table, columns, ARRAY_SIZE(columns));                       \
		json_end(json, '}');                                                               \
	} while (0)

static void write_stacks(const struct stack_table *stacks, struct json *json)
{
	begin_table(json, "stackTable", &stacks->rows, stack_columns, ARRAY_SIZE(stack_columns));
	json_key(json, "prefixOffset"); /* distance to the row of the caller; 0: none */
	json_begin(json, '[');
	for (uint32_t i = 0; i < stacks->rows.count; i++) {
		uint32_t caller = stack_table_row(stacks, i)->caller;

		json_number(json, caller == ROW_NONE ? 0 : i - caller);
	}
	json_end(json, ']');
	json_end(json, '}');
}

void firefox_tables_write(const struct firefox_tables *tables, struct json *json)
{
	const struct row_table none = {0};

	json_begin(json, '{');
	write_stacks(&tables->stacks, json);
	WRITE_TABLE(json, "frameTable", &tables->frames, frame_columns);
	WRITE_TABLE(json, "funcTable", &tables->funcs, func_columns);
	WRITE_TABLE(json, "resourceTable", &tables->resources, resource_columns);
	WRITE_TABLE(json, "nativeSymbols", &tables->symbols, symbol_columns);
	WRITE_TABLE(json, "sources", &tables->sources, source_columns);
	WRITE_TABLE(json, "sourceLocationTable", &none, source_location_columns);
	json_key(json, "stringArray");
	json_begin(json, '[');
	for (uint32_t i = 0; i < tables->string_count; i++)
		json_string(json, string_pool_get(tables->strings, i));
	json_end(json, ']');
	json_end(json, '}');
}
