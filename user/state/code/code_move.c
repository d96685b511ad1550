/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Moves: a region continues at another address. */
#include <errno.h>
#include <string.h>

#include "state/code/code_map_state.h"

/* Find the region that an event moves. Returns false if there is none. */
static bool find_moving(const struct code_map *map, const struct code_event *event,
			struct space_entry *ret)
{
	const struct code_region *region;

	if (!space_map_next(map->space, event->old_address, ret) ||
	    ret->start != event->old_address || ret->from_ns > event->time_ns)
		return false;
	region = &code_record_of(ret->value)->region;
	return code_event_is_about(event, region) &&
	       (!event->size_bytes || event->size_bytes == region->size_bytes) &&
	       region->size_bytes <= UINT64_MAX - event->address &&
	       !code_map_is_in_gap(map, &event->origin, event->time_ns);
}

/* Gather the regions in the new range, and the region that begins at the old address. */
static int gather_both(struct code_map *map, const struct code_event *event, uint64_t size_bytes)
{
	struct space_entry old;
	int err = code_map_gather(map, event->address, event->address + size_bytes);

	if (err || !space_map_next(map->space, event->old_address, &old) ||
	    old.start != event->old_address)
		return err;
	vec_for_each (hit, &map->hit) {
		if (hit->value == old.value)
			return 0;
	}
	return vec_push(&map->hit, ((struct space_key){old.start, old.value}));
}

/* End the regions at both places: their content is unknown now. */
static int end_both(struct code_map *map, const struct code_event *event, uint64_t *count)
{
	size_t ended;
	int err = gather_both(map, event, event->size_bytes ?: 1);

	err = err ?: code_map_end_gathered(map, event->time_ns, &ended);
	if (!err)
		(*count)++;
	return err;
}

/* Create the record of the region at its new address. Returns 0, -EDQUOT or -ENOMEM. */
static int make_moved(const struct code_map *map, const struct code_event *event,
		      struct code_record *old, struct code_account *account,
		      struct code_record **ret)
{
	struct code_claim claims[JITBPF_PUBLISHER_COUNT];
	struct code_record *record;
	uint32_t count = old->region.claim_count;
	int err = code_record_copy(old, account, map->first_number, &record);

	if (err)
		return err;
	memcpy(claims, record->region.claims, count * sizeof(*claims));
	for (uint32_t i = 0; i < count; i++) {
		if (claims[i].origin.publisher != event->origin.publisher)
			continue;
		claims[i].origin = event->origin;
		claims[i].time_ns = event->time_ns;
		claims[i].inherited = false;
	}
	err = code_record_set_claims(record, claims, count);
	if (err) {
		code_record_put(record);
		return err;
	}
	code_record_version(record)->identity =
		0; /* relative addresses in its code may have changed */
	record->region.address = event->address;
	record->region.loaded_ns = event->time_ns;
	*ret = record;
	return 0;
}

int code_map_move(struct code_map *map, struct code_account *account,
		  const struct code_event *event)
{
	CLEANUP(code_record_putp) struct code_record *moved = NULL;
	struct space_entry entry;
	struct space_key old;
	uint64_t size_bytes;
	int err;

	if (code_range_is_invalid(event->address, event->size_bytes ?: 1)) {
		account->counts.invalid++;
		return 0;
	}
	if (!find_moving(map, event, &entry))
		return end_both(map, event, &account->counts.move_unknown);
	err = make_moved(map, event, code_record_of(entry.value), account, &moved);
	if (err == -EDQUOT)
		return end_both(map, event, &account->counts.over_budget);
	old = (struct space_key){entry.start, entry.value};
	size_bytes = entry.end - entry.start;
	err = err ?: gather_both(map, event, size_bytes);
	err = err ?: code_map_enter(map, moved, event->time_ns, &old);
	if (err)
		return err;
	account->counts.moves++;
	code_map_settle(map, event->address, event->address + size_bytes, event->time_ns, true);
	return 0;
}
