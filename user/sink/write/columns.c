/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/write/columns.h"

#include <stdbool.h>

#include "base/utf8.h"

#define GAP "..."

/* A code point of a name as it is shown. */
struct shown {
	const char *bytes; /* "?" instead of what is not shown */
	uint32_t size_bytes;
	uint32_t columns;
};

/* Returns where the next code point begins. */
static const char *next_shown(const char *at, struct shown *ret)
{
	uint32_t bytes, code = utf8_next(at, &bytes);
	uint32_t columns = code == UTF8_INVALID || utf8_is_control(code) ? 0 : utf8_columns(code);

	*ret = (struct shown){.bytes = at, .size_bytes = bytes, .columns = columns};
	if (!columns)
		*ret = (struct shown){.bytes = "?", .size_bytes = 1, .columns = 1};
	return at + bytes;
}

uint32_t columns_of_name(const char *name, uint32_t limit)
{
	struct shown shown;
	uint64_t columns = 0;

	while (*name && columns < limit) {
		name = next_shown(name, &shown);
		columns += shown.columns;
	}
	return columns < limit ? (uint32_t)columns : limit;
}

/* Put the code points from `at` on as far as they fit. Returns the columns used. */
static uint32_t put_head(struct text *text, const char *at, uint32_t columns)
{
	struct shown shown;
	uint32_t used = 0;

	while (*at) {
		at = next_shown(at, &shown);
		if (used + shown.columns > columns)
			break;
		text_put(text, shown.bytes, shown.size_bytes);
		used += shown.columns;
	}
	return used;
}

/*
 * Returns the place in a name from which the rest takes at most that many columns. `all`: columns
 * of the whole name.
 */
static const char *tail_of(const char *name, uint64_t all, uint32_t columns)
{
	struct shown shown;

	while (*name && all > columns) {
		name = next_shown(name, &shown);
		all -= shown.columns;
	}
	return name;
}

uint32_t columns_put_name(struct text *text, const char *name, uint32_t columns)
{
	uint32_t all = columns_of_name(name, COLUMNS_ANY), room, used;

	if (all <= columns)
		return put_head(text, name, COLUMNS_ANY);
	room = columns - (uint32_t)(sizeof(GAP) - 1);
	used = put_head(text, name, (room + 1) / 2);
	text_put(text, GAP, sizeof(GAP) - 1);
	used += (uint32_t)(sizeof(GAP) - 1);
	return used + put_head(text, tail_of(name, all, room / 2), COLUMNS_ANY);
}

void columns_put_padded(struct text *text, const char *name, uint32_t columns)
{
	uint32_t used = columns_put_name(text, name, columns);

	while (used++ < columns)
		text_put(text, " ", 1);
}
