/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Differences of snapshots, for publishers that report only the present code (a perf map). */
#include <string.h>

#include "state/code/code_map_state.h"
#include "state/space/cow_range.h"

/*
 * The loads of a snapshot that no later one overlaps, by address. The from_ns of an item is
 * the index of its load; it has no value.
 */
static int effective_loads(const struct code_snapshot *snapshot, struct cow_tree *ret)
{
	struct cow_tree tree = {0};
	int err = cow_tree_reserve(&tree, 0, snapshot->count);

	for (size_t i = snapshot->count; !err && i--;) {
		const struct code_event *load = &snapshot->loads[i];
		struct cow_item item = {.start = load->address,
					.end = load->address + load->size_bytes,
					.from_ns = i};
		const struct cow_item *next = cow_tree_next(&tree, item.start);

		if (!code_range_is_invalid(load->address, load->size_bytes) &&
		    (!next || next->start >= item.end))
			cow_tree_insert(&tree, &item);
	}
	if (err)
		cow_tree_deinit(&tree);
	else
		*ret = tree;
	return err;
}

static bool same_name(const struct code_string *a, const struct code_string *b)
{
	size_t bytes = code_string_bytes(a);

	return bytes == code_string_bytes(b) && (!bytes || !memcmp(a->bytes, b->bytes, bytes - 1));
}

/* A snapshot and its effective loads. */
struct side {
	const struct code_snapshot *snapshot;
	struct cow_tree loads;
};

/* Returns true if a side has the same load. */
static bool has_load(const struct side *side, const struct code_event *load)
{
	const struct cow_item *item = cow_range_at(&side->loads, load->address);

	return item && item->start == load->address &&
	       item->end - item->start == load->size_bytes &&
	       same_name(&side->snapshot->loads[item->from_ns].name, &load->name);
}

/* Gather the region of a load that has vanished. */
static int gather_region(struct code_map *map, const struct code_event *load)
{
	struct space_entry entry;

	if (!space_map_next(map->space, load->address, &entry) || entry.start != load->address ||
	    entry.end - entry.start != load->size_bytes ||
	    !code_claim_for(&code_record_of(entry.value)->region, &load->origin))
		return 0;
	return vec_push(&map->hit, ((struct space_key){entry.start, entry.value}));
}

static int end_vanished(struct code_map *map, struct code_account *account,
			const struct side *before, const struct side *now, uint64_t time_ns)
{
	const struct cow_item *item;
	size_t ended;
	int err = 0;

	map->hit.size = 0;
	for (uint64_t at = 0; !err && (item = cow_tree_next(&before->loads, at)); at = item->end) {
		const struct code_event *load = &before->snapshot->loads[item->from_ns];

		if (!has_load(now, load))
			err = gather_region(map, load);
	}
	err = err ?: code_map_end_gathered(map, time_ns, &ended);
	if (!err)
		account->counts.unloads += ended;
	return err;
}

static int load_new(struct code_map *map, struct code_account *account, const struct side *before,
		    const struct side *now)
{
	int err = 0;

	for (size_t i = 0; !err && i < now->snapshot->count; i++) {
		const struct code_event *load = &now->snapshot->loads[i];
		const struct cow_item *item = cow_range_at(&now->loads, load->address);

		if (item && item->from_ns == i && !has_load(before, load))
			err = code_map_apply(map, account, load);
	}
	return err;
}

int code_map_apply_snapshot(struct code_map *map, struct code_account *account,
			    const struct code_snapshot *before, const struct code_snapshot *now,
			    uint64_t time_ns)
{
	struct side sides[2] = {{.snapshot = before}, {.snapshot = now}};
	int err = effective_loads(before, &sides[0].loads);

	err = err ?: effective_loads(now, &sides[1].loads);
	err = err ?: end_vanished(map, account, &sides[0], &sides[1], time_ns);
	err = err ?: load_new(map, account, &sides[0], &sides[1]);
	cow_tree_deinit(&sides[0].loads);
	cow_tree_deinit(&sides[1].loads);
	return err;
}
