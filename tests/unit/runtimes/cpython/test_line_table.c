/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/cpython/line_table.h"

#include "base/scope.h"
#include "tests/unit/cases.h"

static const struct runtime_line *at(const struct runtime_function *function, size_t i)
{
	assert_true(i < function->lines.size);
	return &function->lines.data[i];
}

static void expect(uint32_t minor, uint32_t first_line, const uint8_t *table, size_t table_bytes,
		   const struct runtime_line *lines, size_t count)
{
	struct runtime_function function = {.first_line = first_line};

	assert_int_equal(cpython_lines_read(minor, table, table_bytes, &function), 0);
	assert_int_equal(function.lines.size, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(at(&function, i)->position, lines[i].position);
		assert_int_equal(at(&function, i)->line, lines[i].line);
	}
	runtime_function_deinit(&function);
}

#define EXPECT(minor, first_line, table, ...)                                                      \
	expect(minor, first_line, table, sizeof(table), (struct runtime_line[]){__VA_ARGS__},      \
	       ARRAY_SIZE(((struct runtime_line[]){__VA_ARGS__})))

CASE(steps_of_3_9)
{
	/* Large steps need several pairs; lines can go back. */
	static const uint8_t table[] = {0, 1, 8, 1, 255, 0, 5, 127, 0, 10, 4, 0xfe};

	EXPECT(9, 10, table, {0, 11}, {8, 12}, {268, 149}, {272, 147});
	expect(9, 7, NULL, 0, &(struct runtime_line){0, 7}, 1);
}

CASE(pieces_of_3_10)
{
	/* 0x80: no line, and the next step is from the line before. */
	static const uint8_t table[] = {4, 1, 0, 100, 6, 27, 2, 0x80, 8, 0xff, 2, 0};

	EXPECT(10, 10, table, {0, 11}, {2, 138}, {5, 0}, {6, 137});
}

CASE(locations_of_3_11)
{
	static const uint8_t table[] = {
		0x80 | 15 << 3 | 0,		       /* none, 1 unit */
		0x80 | 0 << 3 | 1,  0x12,	       /* same line, 2 units */
		0x80 | 11 << 3 | 7, 1,	      2,       /* next line, 8 units */
		0x80 | 13 << 3 | 0, 0x40 | 2, 3,       /* + (2 + 3 * 64) / 2 */
		0x80 | 14 << 3 | 0, 3,	      0, 1, 1, /* - 1 */
		0x80 | 12 << 3 | 0, 1,	      1,       /* + 2 */
	};

	EXPECT(11, 10, table, {0, 0}, {2, 10}, {6, 11}, {22, 108}, {24, 107}, {26, 109});
}

CASE(damaged_tables_end)
{
	static const uint8_t no_start[] = {0x80, 1, 0x12, 1};
	static const uint8_t endless[] = {0x80 | 13 << 3, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f};
	static const uint8_t cut[] = {0x80, 1, 0x80 | 10 << 3, 1};
	static const uint8_t back[] = {0x80 | 13 << 3, 0x40 | 0x3f, 0x3f, 0x80, 0};

	EXPECT(12, 1, no_start, {0, 1});
	expect(12, 1, endless, sizeof(endless), NULL, 0);
	EXPECT(12, 1, cut, {0, 1});
	EXPECT(12, 1, back, {0, 0});
}

CASE(lines_are_bounded)
{
	enum { PAIRS = 2 * RUNTIME_LINES_MAX };
	AUTO_FREE uint8_t *table = malloc(2 * PAIRS);
	struct runtime_function function = {.first_line = 1};

	for (size_t i = 0; i < PAIRS; i++) {
		table[2 * i] = 2;
		table[2 * i + 1] = i & 1 ? 1 : 2;
	}
	assert_int_equal(cpython_lines_read(9, table, 2 * PAIRS, &function), 0);
	assert_int_equal(function.lines.size, RUNTIME_LINES_MAX);
	runtime_function_deinit(&function);
}
