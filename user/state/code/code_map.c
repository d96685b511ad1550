/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/code/code_map.h"

#include <errno.h>
#include <stdlib.h>

#include "base/scope.h"
#include "state/code/code_evict.h"
#include "state/code/code_map_state.h"
#include "state/code/code_methods.h"
#include "state/code/code_publisher.h"

DEFINE_CLEANUP(struct code_map *, code_map_destroy);

static struct code_map *map_alloc(uint64_t *next_number)
{
	struct code_map *map = calloc(1, sizeof(*map));

	if (!map)
		return NULL;
	map->next_number = next_number;
	map->own_number = map->first_number = *next_number;
	map->methods.keys = true;
	return map;
}

int code_map_create(uint64_t *next_number, struct code_map **ret)
{
	CLEANUP(code_map_destroyp) struct code_map *map = map_alloc(next_number);
	int err = map ? space_map_create(SPACE_END_WHOLE, &map->space) : -ENOMEM;

	if (err)
		return err;
	*ret = TAKE_PTR(map);
	return 0;
}

void code_map_destroy(struct code_map *map)
{
	if (!map)
		return;
	if (map->space)
		code_map_count_ends(map);
	space_map_destroy(map->space);
	cow_tree_deinit(&map->methods);
	cow_tree_deinit(&map->registered);
	cow_tree_deinit(&map->waiting);
	cow_tree_deinit(&map->arrivals);
	cow_tree_deinit(&map->late_claims);
	code_map_forget_gaps(map, UINT64_MAX);
	vec_deinit(&map->gaps);
	vec_deinit(&map->hit);
	free(map);
}

void code_map_set_line_rules(struct code_map *map, const struct code_line_rules *rules)
{
	map->line_rules = rules;
}

/* --- events ------------------------------------------------------------------------- */

bool code_event_is_about(const struct code_event *event, const struct code_region *region)
{
	const struct code_claim *claim = code_region_claim(region, event->origin.publisher);

	return !claim || (code_origin_can_be(&event->origin, &claim->origin) &&
			  (!event->method_id || event->method_id == claim->method_id));
}

static int apply_event(struct code_map *map, struct code_account *account,
		       const struct code_event *event)
{
	switch (event->kind) {
	case JITBPF_CODE_LOAD:
		return code_map_load(map, account, event);
	case JITBPF_CODE_UNLOAD:
		return code_map_unload(map, account, event);
	case JITBPF_CODE_REPLACED:
		return code_map_end_replaced(map, account, event);
	case JITBPF_CODE_EVICTED:
		return code_map_evict(map, account, event);
	case JITBPF_CODE_MOVE:
		return code_map_move(map, account, event);
	case JITBPF_CODE_INLINE:
		return code_map_inline(map, account, event);
	case JITBPF_CODE_UPDATE:
		return code_map_update(map, account, event);
	case JITBPF_CODE_LINES:
		return code_map_lines(map, account, event);
	case JITBPF_CODE_CLOSE:
		break;
	case JITBPF_CODE_NOTHING:
		account->counts.nothing++;
		break;
	default:
		account->counts.not_understood++;
	}
	return 0;
}

int code_map_apply(struct code_map *map, struct code_account *account,
		   const struct code_event *event)
{
	int err = apply_event(map, account, event);

	if (!err)
		account->counts.unknown_fields += event->unknown_fields;
	return err;
}

bool code_map_has_others(const struct code_map *map, uint64_t start, uint64_t end, uint64_t engine)
{
	struct space_entry entry;

	for (uint64_t at = start;
	     at < end && space_map_next(map->space, at, &entry) && entry.start < end;
	     at = entry.end) {
		const struct code_region *region = &code_record_of(entry.value)->region;

		if (!code_engine_same_process(region->claims[0].origin.engine, engine))
			return true;
	}
	return false;
}

const struct code_region *code_map_find(const struct code_map *map, uint64_t address,
					uint64_t time_ns)
{
	const struct code_region *region;
	struct space_entry entry;

	if (!space_map_find(map->space, address, time_ns, &entry))
		return NULL;
	region = &code_record_of(entry.value)->region;
	return code_layout_is_data(region->layout, address - region->address) ? NULL : region;
}

size_t code_map_history(const struct code_map *map)
{
	return space_map_history(map->space);
}

bool code_map_has_ended_since(const struct code_map *map, uint64_t time_ns)
{
	return space_map_has_ended_since(map->space, time_ns);
}

const struct code_region *code_map_successor(const struct code_map *map, uint64_t address,
					     uint64_t *time_ns, uint64_t *ret_ended_ns)
{
	struct space_entry entry, next;

	if (!space_map_find(map->space, address, *time_ns, &entry) ||
	    !space_map_find_from(map->space, address, entry.to_ns, &next))
		return NULL;
	*time_ns = next.from_ns;
	*ret_ended_ns = entry.to_ns;
	return &code_record_of(next.value)->region;
}

const struct code_region *code_map_next(const struct code_map *map, uint64_t address)
{
	struct space_entry entry;

	if (!space_map_next(map->space, address, &entry))
		return NULL;
	return &code_record_of(entry.value)->region;
}

struct region_visit {
	int (*fn)(void *context, const struct code_region *region);
	void *context;
};

static int visit_region(void *context, const struct space_entry *entry)
{
	const struct region_visit *visit = context;

	return visit->fn(visit->context, &code_record_of(entry->value)->region);
}

int code_map_for_each(const struct code_map *map,
		      int (*fn)(void *context, const struct code_region *region), void *context)
{
	struct region_visit visit = {.fn = fn, .context = context};

	return space_map_for_each(map->space, visit_region, &visit);
}

int code_map_clone(struct code_map *map, struct code_map **ret)
{
	CLEANUP(code_map_destroyp) struct code_map *clone = map_alloc(map->next_number);
	int err = clone ? space_map_clone(map->space, &clone->space) : -ENOMEM;

	if (err)
		return err;
	clone->methods = cow_tree_clone(&map->methods);
	clone->registered = cow_tree_clone(&map->registered);
	clone->newest_ns = map->newest_ns;
	clone->cleared_ns = map->cleared_ns;
	clone->line_rules = map->line_rules;
	clone->publishers = map->publishers;
	map->own_number = *map->next_number;
	*ret = TAKE_PTR(clone);
	return 0;
}

bool code_map_is_late(const struct code_map *map)
{
	for (uint32_t i = 0; i < JITBPF_PUBLISHER_COUNT; i++) {
		if (map->publishers >> i & 1 && code_publisher_of(i)->late)
			return true;
	}
	return false;
}

bool code_map_is_untouched(const struct code_map *map)
{
	return !space_map_generation(map->space) && !map->waiting.size && !map->gaps.size;
}

void code_map_forget(struct code_map *map, uint64_t time_ns)
{
	space_map_forget(map->space, time_ns);
	code_map_forget_claims(map, time_ns);
	code_map_forget_gaps(map, time_ns);
}

uint64_t code_map_generation(const struct code_map *map)
{
	return space_map_generation(map->space);
}
