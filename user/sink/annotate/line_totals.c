/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/annotate/line_totals.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/hash.h"

int line_totals_init(struct line_totals *ret, uint32_t location_count)
{
	*ret = (struct line_totals){.location_count = location_count};
	ret->of_location = calloc(location_count ?: 1, sizeof(*ret->of_location));
	return ret->of_location ? 0 : -ENOMEM;
}

void line_totals_deinit(struct line_totals *totals)
{
	vec_deinit(&totals->lines);
	index_map_deinit(&totals->index);
	free(totals->of_location);
	*totals = (struct line_totals){0};
}

static bool is_line(const void *lines_, uint32_t item, const void *key_)
{
	const struct line_total *lines = lines_, *key = key_;

	return lines[item].function == key->function && lines[item].line == key->line;
}

static int find_or_add(struct line_totals *totals, const struct line_total *key, uint32_t *ret)
{
	uint64_t hash = hash_bytes(key, offsetof(struct line_total, whole), 0);

	*ret = index_map_find(&totals->index, hash, is_line, totals->lines.data, key);
	if (*ret != INDEX_MAP_NONE)
		return 0;
	*ret = (uint32_t)totals->lines.size;
	if (vec_push(&totals->lines, *key))
		return -ENOMEM;
	return index_map_insert(&totals->index, hash, *ret);
}

int line_totals_add(struct line_totals *totals, const struct view *view, uint32_t location)
{
	struct line_total key = {.line = LINE_NONE};
	uint32_t count, line;
	const struct frame *frame = frame_table_get(view->frames, location, &count);
	int err;

	if (!frame || frame->function == NAMED_FUNCTION_NONE)
		return 0;
	key.function = frame->function;
	err = find_or_add(totals, &key, &key.whole);
	key.line = frame->line == LINE_NONE ? 0 : frame->line;
	err = err ?: find_or_add(totals, &key, &line);
	if (!err)
		totals->of_location[location] = line + 1;
	return err;
}

static void count_once(struct line_total *line, uint32_t node, uint64_t samples)
{
	if (line->counted == node + 1)
		return;
	line->counted = node + 1;
	line->samples += samples;
}

uint32_t line_totals_count(struct line_totals *totals, const struct profile *profile, uint32_t node)
{
	const struct profile_node *nodes = profile->nodes.data;
	uint64_t samples = nodes[node].self;
	uint32_t frames = 0;

	for (uint32_t at = node; samples && nodes[at].parent != PROFILE_NODE_NONE;
	     at = nodes[at].parent, frames++) {
		uint32_t number = nodes[at].location < totals->location_count
					  ? totals->of_location[nodes[at].location]
					  : 0;
		struct line_total *line = number ? &totals->lines.data[number - 1] : NULL;

		if (!line)
			continue;
		count_once(line, node, samples);
		count_once(&totals->lines.data[line->whole], node, samples);
	}
	return frames;
}

uint64_t line_totals_get(const struct line_totals *totals, uint32_t location, uint64_t *ret_whole)
{
	uint32_t number = location < totals->location_count ? totals->of_location[location] : 0;
	const struct line_total *line = number ? &totals->lines.data[number - 1] : NULL;

	*ret_whole = line ? totals->lines.data[line->whole].samples : 0;
	return line ? line->samples : 0;
}
