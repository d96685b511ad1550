/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/cpython/line_table.h"

#include <errno.h>
#include <stdbool.h>

#include "base/cursor.h"

#define NO_LINE INT64_MIN

/* The lines of a table, as they are read. */
struct lines {
	struct runtime_function *function;
	int64_t line;
	uint64_t position;
};

/* From lines->position on, code is at a line. Returns 0, -ENOMEM, or -E2BIG: there are too many. */
static int add(struct lines *lines, int64_t line)
{
	struct runtime_line added = {.position = (uint32_t)lines->position};
	struct runtime_line *last = NULL;

	if (lines->position > UINT32_MAX)
		return -E2BIG;
	if (line > 0 && line <= UINT32_MAX)
		added.line = (uint32_t)line;
	if (lines->function->lines.size)
		last = &lines->function->lines.data[lines->function->lines.size - 1];
	if (last && last->position == added.position) {
		last->line = added.line;
		return 0;
	}
	if (last && last->line == added.line)
		return 0;
	if (lines->function->lines.size >= RUNTIME_LINES_MAX)
		return -E2BIG;
	return vec_push(&lines->function->lines, added);
}

/* 3.9: pairs of bytes, how much position and line grow before the next piece of code. */
static int read_steps(struct lines *lines, struct cursor *c)
{
	int err = add(lines, lines->line);
	uint8_t pair[2];

	while (!err && !cursor_read(c, pair, sizeof(pair))) {
		lines->position += pair[0];
		lines->line += (int8_t)pair[1];
		if (pair[1] || pair[0])
			err = add(lines, lines->line);
	}
	return err;
}

/* 3.10: pairs of bytes, the size of a piece of code and the step from the line before. */
static int read_pieces(struct lines *lines, struct cursor *c)
{
	uint8_t pair[2];
	int err = 0;

	while (!err && !cursor_read(c, pair, sizeof(pair))) {
		bool has_line = pair[1] != 0x80;

		if (has_line)
			lines->line += (int8_t)pair[1];
		if (!pair[0])
			continue;
		err = add(lines, has_line ? lines->line : NO_LINE);
		lines->position += pair[0] / 2;
	}
	return err;
}

/* Numbers of 3.11 have 6 bits in a byte, the lowest first; bit 6: more follow. */
static int read_number(struct cursor *c, uint32_t *ret)
{
	uint32_t value = 0;
	uint8_t byte;

	for (uint32_t shift = 0; shift < 32; shift += 6) {
		if (cursor_read(c, &byte, 1))
			return -EBADMSG;
		value |= (uint32_t)(byte & 0x3f) << shift;
		if (!(byte & 0x40)) {
			*ret = value;
			return 0;
		}
	}
	return -EBADMSG;
}

/* The lowest bit is the sign. */
static int read_signed(struct cursor *c, int64_t *ret)
{
	uint32_t value;
	int err = read_number(c, &value);

	if (!err)
		*ret = value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
	return err;
}

enum { LOCATION_NO_COLUMNS = 13, LOCATION_LONG = 14, LOCATION_NONE = 15 };

/* Read what follows the first byte of an entry. *ret is the step from the line before. */
static int read_location(struct cursor *c, uint32_t kind, int64_t *ret)
{
	uint32_t ignored;
	int err;

	*ret = 0;
	switch (kind) {
	case LOCATION_NONE:
		return 0;
	case LOCATION_LONG: /* and the last line, and both columns */
		err = read_signed(c, ret);
		for (int i = 0; i < 3 && !err; i++)
			err = read_number(c, &ignored);
		return err;
	case LOCATION_NO_COLUMNS:
		return read_signed(c, ret);
	case 10:
	case 11:
	case 12: /* two columns, in a byte each */
		*ret = kind - 10;
		return cursor_skip(c, 2);
	default: /* columns on the same line */
		return cursor_skip(c, 1);
	}
}

/* 3.11: a byte 1kkkksss, of a kind and a size - 1 in units of 2 bytes, and what the kind needs. */
static int read_locations(struct lines *lines, struct cursor *c)
{
	uint8_t first;
	int err = 0;

	while (!err && !cursor_read(c, &first, 1)) {
		uint32_t kind = first >> 3 & 15;
		int64_t step;

		if (!(first & 0x80) || read_location(c, kind, &step))
			break;
		lines->line += step;
		err = add(lines, kind == LOCATION_NONE ? NO_LINE : lines->line);
		lines->position += 2u * ((first & 7) + 1);
	}
	return err;
}

int cpython_lines_read(uint32_t minor, const uint8_t *table, size_t table_bytes,
		       struct runtime_function *ret)
{
	struct cursor c = cursor_of(table, table_bytes);
	struct lines lines = {.function = ret, .line = ret->first_line};
	int err;

	if (minor < 10)
		err = read_steps(&lines, &c);
	else if (minor == 10)
		err = read_pieces(&lines, &c);
	else
		err = read_locations(&lines, &c);
	return err == -E2BIG ? 0 : err;
}
