/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Updates: a part of a region holds something else from now on. Each makes a new version. */
#include <errno.h>

#include "state/code/code_map_state.h"

/* What the JIT API calls the type of a segment. */
enum segment_type {
	SEGMENT_UNKNOWN = 0,
	SEGMENT_CODE = 1,
	SEGMENT_DATA = 2,
	SEGMENT_KEEP = 3, /* as it was */
	SEGMENT_EOF = 4,  /* there are no more */
};

/* The range of an update, within its region. */
struct update {
	uint64_t start, end;
	bool is_segment;
	bool is_data;
};

/* Does the update lie across the border of an earlier segment? */
static bool crosses_segment(const struct code_layout *layout, const struct update *update)
{
	const struct cow_item *item =
		layout ? cow_tree_next(&layout->segments, update->start) : NULL;
	uint64_t start = update->start, end = update->end;

	for (; item && item->start < end; item = cow_tree_next(&layout->segments, item->end)) {
		bool around = start <= item->start && item->end <= end;
		bool inside = item->start <= start && end <= item->end;

		if (!around && !inside)
			return true;
	}
	return false;
}

/*
 * The region's lines say nothing of the range any more. Ranges that touch become
 * one, so that many small updates take no more than what lies between them.
 */
static int void_lines(struct cow_tree *replaced, uint64_t start, uint64_t end,
		      struct code_mark *mark)
{
	const struct cow_item *left = start ? cow_range_at(replaced, start - 1) : NULL;
	const struct cow_item *right = cow_range_at(replaced, end);
	int err;

	if (left)
		start = left->start;
	if (right)
		end = right->end;
	err = cow_range_reserve(replaced, start, end);
	if (!err)
		cow_range_put(replaced, start, end, &mark->value);
	return err;
}

/* Write an update into the layout of a version that nobody sees yet. */
static int write_update(struct code_layout *layout, const struct update *update,
			struct code_mark *mark)
{
	bool keeps = update->is_segment && !update->is_data; /* code that says that it is code */
	int err;

	err = cow_range_reserve(&layout->segments, update->start, update->end);
	if (!err && !keeps)
		err = cow_range_reserve(&layout->inlines, update->start, update->end);
	if (!err && !keeps)
		err = void_lines(&layout->replaced, update->start, update->end, mark);
	if (err)
		return err;
	if (!keeps)
		cow_range_clear(&layout->inlines, update->start, update->end);
	if (update->is_segment)
		cow_range_put(&layout->segments, update->start, update->end, &mark->value);
	else
		cow_range_clear(&layout->segments, update->start, update->end);
	return 0;
}

/* Make the new version. Returns 0, -EDQUOT or -ENOMEM, with nothing changed. */
static int update_region(struct code_map *map, const struct space_entry *entry,
			 const struct update *update, uint64_t time_ns)
{
	CLEANUP(code_mark_putp) struct code_mark *mark = NULL;
	struct code_change change;
	int err = code_mark_create(update->is_data, &map->budget, map->usage, &mark);

	if (err)
		return err;
	err = code_change_begin(map, entry, time_ns, true, &change);
	if (err)
		return err;
	err = write_update(change.record->region.layout, update, mark);
	err = err ?: code_change_enter(map, &change);
	if (err)
		code_change_cancel(&change);
	return err;
}

/* It would go on under old lines and inlined methods: better that nothing is known of it. */
static int end_region(struct code_map *map, const struct space_entry *entry, uint64_t time_ns)
{
	uint64_t at_ns = time_ns > entry->from_ns ? time_ns : entry->from_ns;
	size_t ended;
	int err = code_map_gather(map, entry->start, entry->end);

	err = err ?: code_map_end_gathered(map, at_ns, &ended);
	if (!err)
		map->counts.over_budget++;
	return err;
}

/* The region that an update speaks of: the one at its address. */
static bool find_region(const struct code_map *map, const struct jit_event *event, uint64_t engine,
			uint64_t time_ns, struct space_entry *ret)
{
	uint32_t id = event->header.method_id;
	const struct code_region *region;

	if (!space_map_next(map->space, event->header.address, ret) ||
	    ret->start > event->header.address)
		return false;
	region = &code_record_of(ret->value)->region;
	return (!id || id == region->method_id) && region->loaded_ns <= time_ns &&
	       code_engine_can_be(region->engine, engine);
}

int code_map_update(struct code_map *map, const struct jit_event *event, uint64_t engine,
		    uint64_t time_ns)
{
	uint64_t start = event->header.address, size_bytes = event->header.code_bytes;
	struct update update = {
		.start = start,
		.end = start + size_bytes,
		.is_segment = event->header.event == JIT_EVENT_UPDATE_V2,
	};
	struct space_entry entry;
	int err;

	if (code_range_is_invalid(start, size_bytes) ||
	    (update.is_segment && event->segment > SEGMENT_EOF)) {
		map->counts.invalid++;
		return 0;
	}
	if (!find_region(map, event, engine, time_ns, &entry)) {
		map->counts.update_unknown++;
		return 0;
	}
	update.end = update.end < entry.end ? update.end : entry.end;
	update.is_data = update.is_segment && event->segment == SEGMENT_DATA;
	if (update.is_segment &&
	    crosses_segment(code_record_of(entry.value)->region.layout, &update)) {
		map->counts.segment_overlap++;
		return 0;
	}
	map->counts.updates++;
	if (update.is_segment && event->segment >= SEGMENT_KEEP)
		return 0;
	err = update_region(map, &entry, &update, time_ns);
	if (err == -EDQUOT)
		err = end_region(map, &entry, time_ns);
	if (err)
		map->counts.updates--;
	return err;
}
