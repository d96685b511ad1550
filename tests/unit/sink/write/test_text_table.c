/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/write/text_table.h"

#include <stdint.h>

#include <string.h>

#include "base/scope.h"
#include "sink/write/paragraph.h"
#include "tests/unit/cases.h"

static const struct text_column columns[] = {
	{"COUNT", false},
	{"NEVER", false},
	{"NAME", true},
	{"PLACE", true},
};

static void add(struct text_table *table, uint64_t count, const char *name, const char *place)
{
	text_table_add_number(table, count);
	text_table_add(table, "");
	text_table_add(table, name);
	text_table_add(table, place);
}

/* Returns the table as a string, which the caller frees. */
static char *shown(const struct text_table *table, uint32_t limit)
{
	CLEANUP(text_deinit) struct text text = {0};

	text_table_put(table, &text, limit, false);
	text_put(&text, "", 1);
	assert_false(text.failed);
	return strdup(text.bytes.data);
}

CASE(columns_are_as_wide_as_needed)
{
	CLEANUP(text_table_deinit)
	struct text_table table = {.columns = columns, .column_count = ARRAY_SIZE(columns)};

	add(&table, 1234567, "php", "here");
	add(&table, 0, "java", "");
	AUTO_FREE char *text = shown(&table, 0);
	assert_string_equal(text, "    COUNT  NAME  PLACE\n"
				  "1,234,567  php   here\n"
				  "           java  \n");
}

/* The widest text gives way; a name with wide or hostile characters keeps its row aligned. */
CASE(rows_fit_a_terminal)
{
	CLEANUP(text_table_deinit)
	struct text_table table = {.columns = columns, .column_count = ARRAY_SIZE(columns)};

	add(&table, 1, "a name that is long", "in a place");
	add(&table, 2, "\xf0\x9f\x94\xa5\x1b[2J\n", "x");
	AUTO_FREE char *text = shown(&table, 29);
	assert_string_equal(text, "COUNT  NAME        PLACE\n"
				  "    1  a na...ong  in a place\n"
				  "    2  \xf0\x9f\x94\xa5?[2J?     x\n");
	AUTO_FREE char *narrow = shown(&table, 3); /* texts keep a rest */
	assert_non_null(strstr(narrow, "    1  a n...ng  in ...ce\n"));
}

CASE(paragraphs_are_wrapped_between_words)
{
	CLEANUP(text_deinit) struct text text = {0};

	paragraph_put(&text, "one two three four-and-more-than-fits five", 4, 2, 12);
	text_put(&text, "", 1);
	assert_string_equal(text.bytes.data, "one two\n  three\n  four-and-more-than-fits\n  five");
	text.bytes.size = 0;
	paragraph_put(&text, "one two", 4, 2, 0);
	text_put(&text, "", 1);
	assert_string_equal(text.bytes.data, "one two");
}
