/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/hotspot/hotspot_lines.h"

#include <errno.h>
#include <stdlib.h>

#include "runtimes/hotspot/hotspot_numbers.h"

#define END    0
#define ESCAPE 0xff /* two numbers follow, else the byte has both differences */

static bool read_number(struct hotspot_numbers *in, int32_t *ret)
{
	uint32_t number;

	if (!hotspot_number_read(in, &number))
		return false;
	*ret = (int32_t)(number >> 1 ^ -(number & 1));
	return true;
}

static bool read_pair(struct hotspot_numbers *in, uint32_t *position, uint32_t *line)
{
	int32_t by, lines;
	uint8_t byte;

	if (in->at == in->end)
		return false;
	byte = *in->at++;
	if (byte == END)
		return false;
	if (byte != ESCAPE) {
		*position += byte >> 3;
		*line += byte & 7;
		return true;
	}
	if (!read_number(in, &by) || !read_number(in, &lines))
		return false;
	*position += (uint32_t)by;
	*line += (uint32_t)lines;
	return *position <= UINT16_MAX && *line <= UINT16_MAX;
}

static int compare(const void *a_, const void *b_)
{
	const struct runtime_line *a = a_, *b = b_;

	return (a->position > b->position) - (a->position < b->position);
}

int hotspot_lines_decode(const uint8_t *table, size_t size_bytes, bool zero_free,
			 struct runtime_function *ret)
{
	struct hotspot_numbers in = {.at = table, .end = table + size_bytes, .excluded = zero_free};
	uint32_t position = 0, line = 0;
	size_t kept = 0;

	while (ret->lines.size < RUNTIME_LINES_MAX - 1 && read_pair(&in, &position, &line)) {
		if (vec_push(&ret->lines, ((struct runtime_line){position, line})))
			return -ENOMEM;
	}
	if (!ret->lines.size)
		return 0;
	ret->first_line = ret->lines.data[0].line;
	qsort(ret->lines.data, ret->lines.size, sizeof(ret->lines.data[0]), compare);
	for (size_t i = 1; i < ret->lines.size; i++) {
		if (ret->lines.data[i].position != ret->lines.data[kept].position)
			kept++;
		ret->lines.data[kept] = ret->lines.data[i];
	}
	ret->lines.size = kept + 1;
	return 0;
}
