/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/utf8.h"
#include "sink/write/columns.h"
#include "tests/unit/cases.h"

static void check(const char *name, uint32_t columns, const char *expected)
{
	CLEANUP(text_deinit) struct text text = {0};
	uint32_t used = columns_put_name(&text, name, columns);

	text_put(&text, "", 1);
	assert_string_equal(text.bytes.data, expected);
	assert_int_equal(used, columns_of_name(expected, COLUMNS_ANY));
	assert_true(used <= columns);
}

CASE(long_names_lose_their_middle)
{
	check("short", 5, "short");
	check("short", COLUMNS_ANY, "short");
	check("", 4, "");
	check("0123456789", 9, "012...789");
	check("0123456789", 8, "012...89");
	check("0123456789", 4, "0...");
	check("std::vector<int, std::allocator<int>>::push_back", 24, "std::vector...:push_back");
}

CASE(a_wide_character_is_not_cut)
{
	check("関数の名前です", 14, "関数の名前です");
	check("関数の名前です", 13, "関数...です");
	check("関数の名前です", 8, "関...す");
	check("a関数の名前です", 8, "a関...す");
}

CASE(nothing_controls_the_terminal)
{
	check("a\033[31mb", 20, "a?[31mb");
	check("left\u202eright", 20, "left?right");
	check("bad\xff\xc3", 20, "bad??");
	check("e\u0301\u0301\u0301", 20, "e???"); /* marks would take no column */
}

CASE(a_name_of_any_length_fits)
{
	CLEANUP(text_deinit) struct text text = {0};
	static char name[10001];

	memset(name, 'x', sizeof(name) - 1);
	assert_int_equal(columns_of_name(name, 100), 100);
	for (uint32_t columns = 4; columns < 200; columns++) {
		text.bytes.size = 0;
		assert_int_equal(columns_put_name(&text, name, columns), columns);
		assert_int_equal(text.bytes.size, columns);
	}
}

CASE(a_column_is_filled_up)
{
	CLEANUP(text_deinit) struct text text = {0};

	columns_put_padded(&text, "php", 6);
	columns_put_padded(&text, "関数", 6);
	columns_put_padded(&text, "longer name", 6);
	text_put(&text, "|", 2);
	assert_string_equal(text.bytes.data, "php   関数  lo...e|");
}
