/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads: new regions. */
#include <errno.h>

#include "state/code/code_methods.h"

bool code_map_next_key(const struct code_map *map, uint64_t method_id, uint64_t *ret)
{
	const struct cow_item *last = code_method_last(map, method_id);

	*ret = last ? last->start + 1 : code_method_key(method_id, 0);
	return *ret < code_method_key(method_id, UINT32_MAX);
}

struct code_record *code_map_first_part(const struct code_map *map, const struct code_event *event,
					uint64_t time_ns)
{
	uint64_t start = event->address, end = start + event->size_bytes;
	uint64_t id = event->method_id;
	const struct cow_item *item = id ? code_method_last(map, id) : NULL;

	for (size_t left = CODE_METHOD_PARTS_MAX; item && left; left--) {
		struct code_record *record = code_record_of(item->value);
		const struct code_region *region = &record->region;
		const struct code_claim *claim =
			code_method_claim(item, id, event->origin.publisher);
		bool overlaps =
			region->address < end && start < region->address + region->size_bytes;

		if (claim && claim->origin.engine == event->origin.engine && !overlaps &&
		    region->loaded_ns <= time_ns)
			return record;
		item = code_method_before(map, id, item->start);
	}
	return NULL;
}

/* Refuse a load. It still ends the regions that it overwrites. */
static int refuse(struct code_map *map, const struct code_event *event, uint64_t *count)
{
	size_t ended;
	int err = code_map_end_gathered(map, event->time_ns, &ended);

	if (!err)
		(*count)++;
	return err;
}

static int refuse_over_budget(struct code_map *map, struct code_account *account,
			      const struct code_event *event)
{
	size_t ended;
	int err = code_map_end_gathered(map, event->time_ns, &ended);

	if (!err)
		code_account_count_refused(account);
	return err;
}

/* Enter a new region. -EDQUOT: over budget. */
static int enter_region(struct code_map *map, struct code_account *account,
			const struct code_event *event, struct code_record *first, uint64_t from_ns)
{
	CLEANUP(code_record_putp) struct code_record *record = NULL;
	uint64_t key;
	int err;

	if (!code_map_next_key(map, event->method_id, &key))
		return -EDQUOT;
	err = code_record_create(event, first, 0, map->line_rules, account, &record);
	if (err)
		return err;
	record->region.loaded_ns = from_ns;
	record->own_claim.method_key = key;
	return code_map_enter(map, record, from_ns, NULL);
}

/* Returns the time from which a load is in force. */
static uint64_t in_force_from(const struct code_map *map, const struct code_event *event)
{
	if (!(event->flags & JITBPF_EVENT_LATE))
		return event->time_ns;
	return space_map_free_since(
		map->space, event->address, event->address + event->size_bytes, event->time_ns,
		event->since_ns > map->dead_ns ? event->since_ns : map->dead_ns);
}

/*
 * Make room for new code: drop the history up to time_ns. Earlier samples that are still to come
 * find unknown code. Returns false if there was no history.
 */
static bool drop_dead(struct code_map *map, uint64_t time_ns)
{
	if (!space_map_has_history(map->space))
		return false;
	space_map_forget(map->space, time_ns);
	if (map->dead_ns < time_ns)
		map->dead_ns = time_ns;
	return true;
}

/* A method that has no code (yet): only the JIT API has such loads. */
static bool is_registration(const struct code_event *event)
{
	return !event->address && event->method_id &&
	       code_publisher_of(event->origin.publisher)->needs_id;
}

static bool is_invalid(const struct code_event *event)
{
	return code_range_is_invalid(event->address, event->size_bytes) ||
	       (!event->method_id && code_publisher_of(event->origin.publisher)->needs_id);
}

/*
 * The method has code now, so its registration ends. A lack of memory is no error: later loads
 * prefer the method's regions to its registration.
 */
static int end_registration(struct code_map *map, const struct code_event *event)
{
	if (code_map_registered(map, event))
		code_map_unregister(map, event);
	return 0;
}

int code_map_load(struct code_map *map, struct code_account *account,
		  const struct code_event *event)
{
	uint64_t start = event->address, end = start + event->size_bytes, from_ns;
	struct code_counts *counts = &account->counts;
	struct code_record *first;
	int err;

	if (is_registration(event))
		return code_map_register(map, account, event);
	if (is_invalid(event)) {
		counts->invalid++;
		return 0;
	}
	first = code_map_first_part(map, event, event->time_ns) ?: code_map_registered(map, event);
	err = code_map_merge(map, account, event, first);
	if (err)
		return err < 0 ? err : end_registration(map, event);
	err = code_map_gather(map, start, end);
	if (err)
		return err;
	if (code_map_is_in_gap(map, &event->origin, event->time_ns))
		return refuse(map, event, &counts->in_gap);
	from_ns = in_force_from(map, event);
	err = enter_region(map, account, event, first, from_ns);
	if (err == -EDQUOT && drop_dead(map, event->time_ns))
		err = enter_region(map, account, event, first, from_ns);
	if (err == -EDQUOT)
		return refuse_over_budget(map, account, event);
	if (err)
		return err;
	map->publishers |= 1u << event->origin.publisher;
	counts->loads++;
	counts->code_bytes += event->size_bytes;
	counts->published[event->origin.publisher]++;
	code_map_settle(map, start, end, from_ns, true);
	return end_registration(map, event);
}
