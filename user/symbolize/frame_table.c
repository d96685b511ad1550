/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/frame_table.h"

#include <string.h>

#include "base/path.h"
#include "base/scope.h"

/* The frames of a location: a run in frame_table.frames. */
struct frame_run {
	uint32_t first;
	uint32_t count; /* 0 if unknown */
};

struct frame_table {
	struct string_pool *strings; /* borrowed */
	VEC(struct frame) frames;
	VEC(struct frame_run) runs; /* indexed by location */
};

int frame_table_create(struct string_pool *strings, struct frame_table **ret)
{
	struct frame_table *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	table->strings = strings;
	*ret = table;
	return 0;
}

void frame_table_destroy(struct frame_table *table)
{
	if (!table)
		return;
	vec_deinit(&table->frames);
	vec_deinit(&table->runs);
	free(table);
}

struct string_pool *frame_table_strings(const struct frame_table *table)
{
	return table->strings;
}

/* Set the display text of native code without a name: its file. */
static int add_stand_in(struct frame_table *table, struct frame *frame)
{
	const char *path = string_pool_get(table->strings, frame->module);
	const char *file = *path_file(path) ? path_file(path) : path;
	AUTO_FREE char *text = NULL;

	frame->stand_in = 0;
	if (frame->name || frame->kind != FRAME_KIND_NATIVE || !*file)
		return 0;
	if (*file == '[') /* "[vdso]" */
		return string_pool_add(table->strings, file, strlen(file), &frame->stand_in);
	if (asprintf(&text, "[%s]", file) < 0) {
		text = NULL;
		return -ENOMEM;
	}
	return string_pool_add(table->strings, text, strlen(text), &frame->stand_in);
}

int frame_table_set(struct frame_table *table, uint32_t location, const struct frame *frames,
		    uint32_t count)
{
	size_t first = table->frames.size, runs = (size_t)location + 1;

	if (!count)
		return -EINVAL;
	if (location < table->runs.size && table->runs.data[location].count)
		return -EEXIST;
	if (count > UINT32_MAX - first || vec_reserve(&table->frames, first + count) ||
	    vec_reserve(&table->runs, runs))
		return -ENOMEM;
	if (runs > table->runs.size) {
		memset(table->runs.data + table->runs.size, 0,
		       (runs - table->runs.size) * sizeof(*table->runs.data));
		table->runs.size = runs;
	}
	memcpy(table->frames.data + first, frames, count * sizeof(*frames));
	for (uint32_t i = 0; i < count; i++) {
		if (add_stand_in(table, &table->frames.data[first + i]))
			return -ENOMEM;
	}
	table->frames.size += count;
	table->runs.data[location] = (struct frame_run){(uint32_t)first, count};
	return 0;
}

const struct frame *frame_table_get(const struct frame_table *table, uint32_t location,
				    uint32_t *ret_count)
{
	*ret_count = 0;
	if (location >= table->runs.size || !table->runs.data[location].count)
		return NULL;
	*ret_count = table->runs.data[location].count;
	return table->frames.data + table->runs.data[location].first;
}
