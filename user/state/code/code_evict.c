/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/code/code_evict.h"

#include <string.h>

#include "state/code/code_map_state.h"

static bool can_give_way(const struct code_record *record, const struct budget_owner *owner,
			 uint64_t before_ns)
{
	return !record->region.value.sampled && record->account->owner == owner &&
	       record->region.loaded_ns < before_ns;
}

/* What the region itself is charged. Its layout, if any, is more. */
static uint64_t bytes_of(const struct code_record *record)
{
	return code_record_bytes(record) + CODE_ENTRY_BYTES;
}

bool code_map_next_evictable(struct code_map *map, const struct budget_owner *owner,
			     uint64_t before_ns, uint64_t bytes, struct code_run *ret)
{
	struct code_run run = {0};
	struct space_entry entry;

	for (int looks = 0; looks < CODE_EVICT_LOOKS_MAX && run.bytes < bytes; looks++) {
		const struct code_record *record;

		if (!space_map_next(map->space, map->evict_at, &entry)) {
			map->evict_at = 0;
			break;
		}
		record = code_record_of(entry.value);
		if (run.regions && !can_give_way(record, owner, before_ns))
			break;
		map->evict_at = entry.end;
		if (!can_give_way(record, owner, before_ns))
			continue;
		if (!run.regions)
			run.address = entry.start;
		run.size_bytes = entry.end - run.address;
		run.regions++;
		run.bytes += bytes_of(record);
	}
	if (run.regions)
		*ret = run;
	return run.regions;
}

size_t code_map_registrations(const struct code_map *map)
{
	return map->registered.size;
}

static int evict_registered(struct code_map *map, struct code_account *account)
{
	account->counts.evicted += map->registered.size;
	cow_tree_deinit(&map->registered);
	return 0;
}

int code_map_evict(struct code_map *map, struct code_account *account,
		   const struct code_event *event)
{
	uint64_t start = event->address, end = start + event->size_bytes;
	size_t count;
	int err;

	if (!start)
		return evict_registered(map, account);
	if (code_range_is_invalid(start, event->size_bytes)) {
		account->counts.invalid++;
		return 0;
	}
	err = code_map_gather_starting(map, start, end);
	count = map->hit.size;
	err = err ?: code_map_drop_gathered(map);
	if (err)
		return err;
	account->counts.evicted += count;
	/* A late load must not name earlier samples of the code that was here. */
	if (map->dead_ns < event->time_ns)
		map->dead_ns = event->time_ns;
	return 0;
}
