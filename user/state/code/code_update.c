/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Updates replace a part of a region. Each enters a new version of the region. */
#include <errno.h>

#include "state/code/code_map_state.h"

/* An update's range, as offsets in its region. */
struct update {
	uint64_t start, end;
	bool is_segment;
	bool is_data;
};

/* Returns true if the update lies across the border of an earlier segment. */
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
 * Mark the region's lines as invalid in the range. Adjacent ranges are joined, so that many small
 * updates need little memory.
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

/* Apply an update to the layout of a version that is not entered yet. */
static int write_update(struct code_layout *layout, const struct update *update,
			struct code_mark *mark)
{
	bool keeps =
		update->is_segment && !update->is_data; /* a segment of code: the content stays */
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

/* Enter the new version. Returns 0, -EDQUOT or -ENOMEM, with nothing changed. */
static int update_region(struct code_map *map, struct code_account *account,
			 const struct space_entry *entry, const struct update *update,
			 uint64_t time_ns)
{
	CLEANUP(code_mark_putp) struct code_mark *mark = NULL;
	struct code_change change;
	int err = code_mark_create(update->is_data, account, &mark);

	if (err)
		return err;
	err = code_change_begin(map, account, entry, time_ns, true, &change);
	if (err)
		return err;
	err = write_update(change.record->region.layout, update, mark);
	err = err ?: code_change_enter(map, &change);
	if (err)
		code_change_cancel(&change);
	return err;
}

/* Over the budget, the region ends: its lines and inlined methods would be wrong. */
static int end_region(struct code_map *map, struct code_account *account,
		      const struct space_entry *entry, uint64_t time_ns)
{
	uint64_t at_ns = time_ns > entry->from_ns ? time_ns : entry->from_ns;
	size_t ended;
	int err = code_map_gather(map, entry->start, entry->end);

	err = err ?: code_map_end_gathered(map, at_ns, &ended);
	if (!err)
		code_account_count_refused(account);
	return err;
}

/* Find the region at the event's address, if the event is about it. */
static bool find_region(const struct code_map *map, const struct code_event *event,
			struct space_entry *ret)
{
	const struct code_region *region;

	if (!space_map_next(map->space, event->address, ret) || ret->start > event->address)
		return false;
	region = &code_record_of(ret->value)->region;
	return code_event_is_about(event, region) && region->loaded_ns <= event->time_ns;
}

int code_map_update(struct code_map *map, struct code_account *account,
		    const struct code_event *event)
{
	bool is_segment = event->flags & JITBPF_EVENT_SEGMENT;
	struct update update = {.is_segment = is_segment};
	struct space_entry entry;
	uint64_t end;
	int err;

	if (code_range_is_invalid(event->address, event->size_bytes) ||
	    (is_segment && event->segment >= JITBPF_SEGMENT_COUNT)) {
		account->counts.invalid++;
		return 0;
	}
	if (!find_region(map, event, &entry)) {
		account->counts.update_unknown++;
		return 0;
	}
	end = event->address + event->size_bytes;
	update.start = event->address - entry.start;
	update.end = (end < entry.end ? end : entry.end) - entry.start;
	update.is_data = is_segment && event->segment == JITBPF_SEGMENT_DATA;
	if (is_segment && crosses_segment(code_record_of(entry.value)->region.layout, &update)) {
		account->counts.segment_overlap++;
		return 0;
	}
	if (!is_segment || event->segment < JITBPF_SEGMENT_KEEP)
		err = update_region(map, account, &entry, &update, event->time_ns);
	else
		err = 0;
	if (err == -EDQUOT)
		err = end_region(map, account, &entry, event->time_ns);
	if (!err)
		account->counts.updates++;
	return err;
}

int code_map_lines(struct code_map *map, struct code_account *account,
		   const struct code_event *event)
{
	struct space_entry entry;
	int err;

	if (!find_region(map, event, &entry) || entry.start != event->address) {
		account->counts.update_unknown++;
		return 0;
	}
	err = code_map_replace_lines(map, account, &entry, event);
	if (err == -EDQUOT) {
		code_account_count_refused(account);
		return 0;
	}
	if (!err)
		account->counts.updates++;
	return err;
}
