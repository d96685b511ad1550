/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/live/delta_items.h"

#include <string.h>

#include "base/leb128.h"
#include "base/scope.h"
#include "profile/ledger.h"
#include "sink/live/delta_format.h"

/* Bytes of a number of items. Fixed, since the number is written after the items that follow it. */
#define COUNT_BYTES 4

void delta_put_bytes(struct delta_bytes *out, const void *bytes, size_t size_bytes)
{
	if (vec_reserve(&out->bytes, out->bytes.size + size_bytes)) {
		out->failed = true;
		return;
	}
	if (size_bytes)
		memcpy(out->bytes.data + out->bytes.size, bytes, size_bytes);
	out->bytes.size += size_bytes;
}

void delta_put(struct delta_bytes *out, uint64_t value)
{
	if (vec_reserve(&out->bytes, out->bytes.size + LEB128_BYTES_MAX)) {
		out->failed = true;
		return;
	}
	out->bytes.size += leb128_write(value, out->bytes.data + out->bytes.size);
}

void delta_put_text(struct delta_bytes *out, const char *text)
{
	size_t size = strlen(text);

	delta_put(out, size);
	delta_put_bytes(out, text, size);
}

size_t delta_items_begin(struct delta_bytes *out)
{
	size_t begin = out->bytes.size;

	delta_put_bytes(out, (const uint8_t[COUNT_BYTES]){0}, COUNT_BYTES);
	return begin;
}

void delta_items_end(struct delta_bytes *out, size_t begin, uint32_t count)
{
	if (out->failed)
		return;
	for (uint32_t i = 0; i < COUNT_BYTES; i++)
		out->bytes.data[begin + i] =
			(uint8_t)((count >> 7 * i & 0x7f) | (i < COUNT_BYTES - 1 ? 0x80 : 0));
}

bool delta_is_full(const struct delta_bytes *out)
{
	return out->bytes.size >= out->max_bytes || out->failed;
}

/* --- items --------------------------------------------------------------------- */

/* Put name and source file of a frame's function, for readers that do not compute them. */
static void put_function(struct delta_bytes *out, const struct view *view,
			 const struct frame *frame)
{
	const struct named_function *function = frame_table_function(view->frames, frame);

	bool differs = function && function->named && function->name != frame->name;

	delta_put(out, differs ? function->name : 0);
	delta_put(out, function ? function->file : 0);
}

void delta_put_names(struct delta_bytes *out, const struct view *view, uint32_t location)
{
	uint32_t count;
	const struct frame *frames = frame_table_get(view->frames, location, &count);

	delta_put(out, count * 2ull | !frame_table_is_named(view->frames, location));
	for (uint32_t i = 0; i < count; i++) {
		delta_put(out, frames[i].name);
		delta_put(out, frames[i].module);
		delta_put(out, frames[i].file);
		delta_put(out, frames[i].line);
		delta_put(out, frames[i].symbol_offset);
		delta_put(out, frames[i].kind);
		delta_put(out, frames[i].flags | (uint32_t)frames[i].tier << DELTA_TIER_SHIFT);
		put_function(out, view, &frames[i]);
	}
}

void delta_put_fields(struct delta_bytes *out, const void *object,
		      const struct delta_fields *fields, size_t field_count)
{
	uint32_t distance = 1;

	for (size_t i = 0; i < field_count; i++) {
		const uint64_t *values =
			(const uint64_t *)((const char *)object + fields[i].offset);

		for (uint32_t k = 0; k < fields[i].count; k++, distance++) {
			if (!values[k])
				continue;
			delta_put(out, distance);
			delta_put(out, values[k]);
			distance = 0;
		}
	}
	delta_put(out, 0);
}

static void put_string(struct delta_bytes *out, const struct view *view, uint32_t number)
{
	delta_put_text(out, string_pool_get(view->strings, number));
}

static void put_location(struct delta_bytes *out, const struct view *view, uint32_t number)
{
	const struct location *location = &view->locations->locations.data[number];

	delta_put(out, location->kind + (location->is_interpreter ? DELTA_INTERPRETER : 0));
	delta_put(out, location->owner);
	delta_put(out, location->offset);
	delta_put_names(out, view, number);
}

static void put_node(struct delta_bytes *out, const struct view *view, uint32_t number)
{
	const struct profile_node *node = &view->profile->nodes.data[number];
	bool root = node->parent == PROFILE_NODE_NONE;

	delta_put(out, root ? 0 : number - node->parent);
	delta_put(out, node->location);
	if (root)
		delta_put(out, profile_comm(view->profile, number));
}

static void put_thread(struct delta_bytes *out, const struct view *view, uint32_t number)
{
	const struct sampled_thread *thread = &view->threads->threads.data[number];

	delta_put(out, thread->pid);
	delta_put(out, thread->tid);
	delta_put(out, thread->comm);
	delta_put(out, thread->container);
	delta_put(out, thread->unit);
}

static void put_count(struct delta_bytes *out, const struct view *view, uint32_t number)
{
	const struct thread_count *count = &view->threads->counts.data[number];

	delta_put(out, count->node);
	delta_put(out, count->thread);
	delta_put(out, count->samples);
}

void delta_put_counted(struct delta_bytes *out, const struct view *view, uint32_t number)
{
	delta_put(out, view->threads->counts.data[number].samples);
}

void delta_put_row(struct delta_bytes *out, const struct view *view, uint32_t number)
{
	const struct ledger_process *row = &view->ledger->processes.data[number];

	delta_put(out, row->pid);
	delta_put(out, row->inner_pid);
	delta_put(out, row->comm);
	delta_put(out, row->container);
	delta_put(out, row->unit);
	delta_put_fields(out, row, delta_row, ARRAY_SIZE(delta_row));
}

void delta_put_fates(struct delta_bytes *out, const struct view *view, uint32_t number)
{
	const struct ledger_process *row = &view->ledger->processes.data[number];
	delta_put_fields(out, &row->samples, delta_fates, ARRAY_SIZE(delta_fates));
}

static const delta_put_fn put_item[DELTA_LIST_COUNT] = {
	[DELTA_STRINGS] = put_string, [DELTA_LOCATIONS] = put_location,
	[DELTA_NODES] = put_node,     [DELTA_THREADS] = put_thread,
	[DELTA_COUNTS] = put_count,   [DELTA_ROWS] = delta_put_row,
};

size_t delta_list_size(const struct view *view, enum delta_list list)
{
	switch (list) {
	case DELTA_STRINGS:
		return string_pool_size(view->strings);
	case DELTA_LOCATIONS:
		return view->locations->locations.size;
	case DELTA_NODES:
		return view->profile->nodes.size;
	case DELTA_THREADS:
		return view->threads->threads.size;
	case DELTA_COUNTS:
		return view->threads->counts.size;
	default:
		return view->ledger->processes.size;
	}
}

void delta_put_item(enum delta_list list, struct delta_bytes *out, const struct view *view,
		    uint32_t number)
{
	put_item[list](out, view, number);
}
