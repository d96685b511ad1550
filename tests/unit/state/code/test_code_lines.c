/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include "state/code/code_lines.h"
#include "tests/unit/cases.h"
#include "tests/unit/state/space_model.h"

#define COUNT_MAX 12
#define SIZE	  20

/* A model of the header's rules: searches the table in the order it was sent. */
static uint32_t line_of(const struct jitbpf_code_line *sent, size_t count, uint64_t size_bytes,
			enum line_offsets offsets, uint64_t offset)
{
	uint32_t last = 0, first = UINT32_MAX, best = UINT32_MAX, line = 0;

	for (size_t i = 0; i < count; i++) {
		last = sent[i].offset > last ? sent[i].offset : last;
		first = sent[i].offset < first ? sent[i].offset : first;
	}
	if (offsets == LINE_OFFSETS_GUESS)
		offsets = last != size_bytes && first == 0 && last < size_bytes ? LINE_OFFSETS_START
										: LINE_OFFSETS_END;
	for (size_t i = 0; i < count; i++) {
		uint32_t away;

		if (offsets == LINE_OFFSETS_START ? sent[i].offset > offset
						  : sent[i].offset <= offset)
			continue;
		away = (uint32_t)(offsets == LINE_OFFSETS_START ? offset - sent[i].offset
								: sent[i].offset - offset);
		if (away < best) {
			best = away;
			line = sent[i].line;
		}
	}
	return line;
}

CASE(test_random_tables)
{
	for (uint64_t seed = 0; seed < 20000; seed++) {
		struct dice dice = {seed};
		size_t count = dice_roll(&dice, COUNT_MAX + 1);
		enum line_offsets offsets = (enum line_offsets)dice_roll(&dice, 3);
		struct jitbpf_code_line sent[COUNT_MAX], *table;
		uint32_t settled;

		for (size_t i = 0; i < count; i++)
			sent[i] = (struct jitbpf_code_line){(uint32_t)dice_roll(&dice, SIZE + 2),
							    (uint32_t)dice_roll(&dice, 4)};
		if (count && dice_roll(&dice, 2))
			sent[count - 1].offset = SIZE;
		/* Exactly the size that the table may use, plus a guard byte. */
		table = malloc(code_lines_room(count) * sizeof(*table) + 1);
		assert_non_null(table);
		assert_int_equal(code_lines_copy(table, sent, count), 0);
		settled = code_lines_settle(table, count, SIZE, offsets);
		assert_true(settled <= code_lines_room(count));
		for (uint64_t offset = 0; offset < SIZE; offset++) {
			if (code_lines_at(table, settled, offset) !=
			    line_of(sent, count, SIZE, offsets, offset))
				fail_msg("seed %llu: offset %llu", (unsigned long long)seed,
					 (unsigned long long)offset);
		}
		free(table);
	}
}

CASE(test_large_table)
{
	const size_t count = 100000;
	struct jitbpf_code_line *sent = calloc(count, sizeof(*sent));
	struct jitbpf_code_line *table = calloc(code_lines_room(count), sizeof(*table));
	uint32_t settled;

	assert_non_null(sent);
	assert_non_null(table);
	/* In reverse order. */
	for (uint32_t i = 0; i < count; i++)
		sent[i] = (struct jitbpf_code_line){4 * (uint32_t)(count - i), i + 1};
	assert_int_equal(code_lines_copy(table, sent, count), 0);
	settled = code_lines_settle(table, count, 4 * count, LINE_OFFSETS_GUESS);
	assert_int_equal(settled, count + 1);
	for (uint64_t offset = 0; offset < 4 * count; offset += 3)
		assert_int_equal(code_lines_at(table, settled, offset), count - offset / 4);
	assert_int_equal(code_lines_at(table, settled, 4 * count), 0);
	free(sent);
	free(table);
}

CASE(test_rules_of_modules)
{
	static const struct code_line_rule rules[] = {
		{"v8", LINE_OFFSETS_START},
		{"v8", LINE_OFFSETS_END},
		{"[jit]", LINE_OFFSETS_END},
	};
	const struct code_line_rules all = {rules, 3};

	assert_int_equal(code_line_rules_find(&all, "v8"), LINE_OFFSETS_START);
	assert_int_equal(code_line_rules_find(&all, "v80"), LINE_OFFSETS_GUESS);
	assert_int_equal(code_line_rules_find(&all, ""), LINE_OFFSETS_END);
	assert_int_equal(code_line_rules_find(&all, "[jit]"), LINE_OFFSETS_END);
	assert_int_equal(code_line_rules_find(NULL, "v8"), LINE_OFFSETS_GUESS);
}
