/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/frame_table.h"

#include <string.h>

#include "base/path.h"
#include "base/scope.h"

/* The frames of a location: a run in frame_table.frames. */
struct frame_run {
	uint32_t first;
	uint32_t count : 31; /* 0 if unknown */
	uint32_t stand_in : 1;
};

struct frame_table {
	struct string_pool *strings; /* borrowed */
	VEC(struct frame) frames;
	VEC(struct frame_run) runs; /* indexed by location */
	VEC(uint32_t) named;	    /* locations, in the order in which their frames were set */
	struct named_functions functions;
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
	vec_deinit(&table->named);
	named_functions_deinit(&table->functions);
	free(table);
}

void frame_table_set_room(struct frame_table *table, const struct room *room)
{
	table->functions.room = *room;
}

const struct named_function *frame_table_function(const struct frame_table *table,
						  const struct frame *frame)
{
	return frame->function < table->functions.functions.size
		       ? &table->functions.functions.data[frame->function]
		       : NULL;
}

uint32_t frame_table_decl_file(const struct frame_table *table, const struct frame *frame)
{
	const struct named_function *function = frame_table_function(table, frame);

	return function && frame->kind == FRAME_KIND_NATIVE ? function->file : 0;
}

uint32_t frame_table_function_count(const struct frame_table *table)
{
	return (uint32_t)table->functions.functions.size;
}

/* Add a text to the pool. If there is no room, *ret is the empty string. */
static int add_text(struct frame_table *table, const char *text, uint32_t *ret)
{
	int err = string_pool_add(table->strings, text, strlen(text), ret);

	return err == -EDQUOT ? 0 : err;
}

/* Get the display text of code without a name: its file, or that of its runtime. 0: none. */
static int add_stand_in(struct frame_table *table, const struct frame *frame, uint32_t *ret)
{
	const char *path = string_pool_get(table->strings, frame->module);
	const char *file = *path_file(path) ? path_file(path) : path;
	AUTO_FREE char *text = NULL;

	*ret = 0;
	if (!frame->name && frame_kind_is_runtime(frame->kind))
		return add_text(table, frame_kind_info(frame->kind)->unknown, ret);
	if (frame->name || frame->kind != FRAME_KIND_NATIVE || !*file)
		return 0;
	if (*file == '[') /* "[vdso]" */
		return add_text(table, file, ret);
	if (asprintf(&text, "[%s]", file) < 0) {
		text = NULL;
		return -ENOMEM;
	}
	return add_text(table, text, ret);
}

/* The runtime's own functions have no file, and are native code. */
static bool is_interpreted(const struct frame *frame)
{
	return frame_kind_info(frame->kind)->has_tiers &&
	       (frame->file || !frame_kind_info(frame->kind)->runtime);
}

static int set_function(struct frame_table *table, struct frame *frame)
{
	struct named_code code = {
		.name = frame->name,
		.module = frame->module,
		.file = frame->file,
		.decl_file = frame->decl_file,
		.kind = frame->kind,
	};
	enum code_tier tier;
	int err = add_stand_in(table, frame, &code.stand_in);

	err = err
		      ?: named_functions_add(&table->functions, table->strings, &code,
					     &frame->function, &tier);
	if (err)
		return err;
	if (frame->flags & FRAME_INLINED)
		tier = CODE_TIER_INLINED;
	else if (frame->flags & FRAME_COMPILED)
		tier = CODE_TIER_COMPILED;
	else if (is_interpreted(frame))
		tier = CODE_TIER_INTERPRETED;
	frame->tier = (uint8_t)tier;
	return 0;
}

/* The run of a location, with room for it. NULL: no memory. */
static struct frame_run *run_of(struct frame_table *table, uint32_t location)
{
	size_t runs = (size_t)location + 1;

	if (vec_reserve(&table->runs, runs))
		return NULL;
	if (runs > table->runs.size) {
		memset(table->runs.data + table->runs.size, 0,
		       (runs - table->runs.size) * sizeof(*table->runs.data));
		table->runs.size = runs;
	}
	return &table->runs.data[location];
}

/* Store frames: in the place of the run's stand-in if there is room, else behind all others. */
static int store(struct frame_table *table, struct frame_run *run, const struct frame *frames,
		 uint32_t count)
{
	size_t first = run->count >= count ? run->first : table->frames.size;

	if (count > INT32_MAX || first > UINT32_MAX - count ||
	    vec_reserve(&table->frames, first + count))
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		struct frame frame = frames[i];

		if (set_function(table, &frame))
			return -ENOMEM;
		table->frames.data[first + i] = frame;
	}
	if (first == table->frames.size)
		table->frames.size += count;
	*run = (struct frame_run){.first = (uint32_t)first, .count = count};
	return 0;
}

int frame_table_set(struct frame_table *table, uint32_t location, const struct frame *frames,
		    uint32_t count)
{
	struct frame_run *run;
	int err;

	if (!count)
		return -EINVAL;
	run = run_of(table, location);
	if (run && run->count && !run->stand_in)
		return -EEXIST;
	if (!run || vec_reserve(&table->named, table->named.size + 1))
		return -ENOMEM;
	err = store(table, run, frames, count);
	return err ?: vec_push(&table->named, location);
}

int frame_table_set_stand_in(struct frame_table *table, uint32_t location,
			     const struct frame *frame)
{
	struct frame_run *run = run_of(table, location);
	int err;

	if (!run)
		return -ENOMEM;
	if (run->count)
		return 0;
	err = store(table, run, frame, 1);
	run->stand_in = !err;
	return err;
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

bool frame_table_is_named(const struct frame_table *table, uint32_t location)
{
	return location < table->runs.size && table->runs.data[location].count &&
	       !table->runs.data[location].stand_in;
}

const uint32_t *frame_table_named(const struct frame_table *table, size_t *ret_count)
{
	*ret_count = table->named.size;
	return table->named.data;
}
