/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/analysis/epoch_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "locate/locate.h"
#include "pipeline/analysis/epoch.h"
#include "uapi/record.h"

/* Parts of an owner's share, in 16ths, that paths and threads may use, and that locations may. */
#define PATHS_16THS  14
#define PLACES_16THS 15

/*
 * The reserve for paths that are cut, as parts of what an owner is charged: for the innermost
 * frames alone, for sets of their callers, and for some callers in order. It is not charged, so it
 * takes no room from rows and names.
 */
#define LEAF_SHARE    2
#define SETS_SHARE    4
#define CALLERS_SHARE 8

static bool is_payer(const struct epoch *epoch)
{
	return epoch->payer != EPOCH_FREE && epoch->payer != EPOCH_FULL;
}

static bool take_room(void *epoch, uint64_t bytes)
{
	return epoch_pay(epoch, bytes);
}

/* Call paths leave room for the rows and names of further processes. */
static bool take_room_of_paths(void *epoch, uint64_t bytes)
{
	return !epoch_uses_16ths(epoch, PATHS_16THS) && epoch_pay(epoch, bytes);
}

bool epoch_pay(struct epoch *epoch, uint64_t bytes)
{
	struct epoch_payer *payer;

	if (!is_payer(epoch))
		return epoch->payer == EPOCH_FREE;
	payer = &epoch->payers.data[epoch->payer];
	if (owner_budget_charge(epoch->memory, payer->owner, bytes))
		return false;
	payer->bytes += bytes;
	return true;
}

void epoch_pay_beyond(struct epoch *epoch, uint64_t bytes)
{
	struct epoch_payer *payer;

	if (!is_payer(epoch))
		return;
	payer = &epoch->payers.data[epoch->payer];
	payer->bytes += bytes;
	owner_budget_add(epoch->memory, payer->owner, bytes);
}

/* Returns true if the payer's reserve for paths that are cut has room, up to 1/share of its memory.
 */
static bool has_reserve(const struct epoch *epoch, uint64_t bytes, uint64_t share)
{
	const struct epoch_payer *payer;

	if (!is_payer(epoch))
		return epoch->payer == EPOCH_FREE;
	payer = &epoch->payers.data[epoch->payer];
	return (payer->cut_bytes + bytes) * share <= payer->bytes;
}

static void pay_from_reserve(struct epoch *epoch, uint64_t bytes)
{
	if (is_payer(epoch))
		epoch->payers.data[epoch->payer].cut_bytes += bytes;
}

/* The innermost frame of a path that is cut needs its location. */
static bool take_room_of_places(void *epoch, uint64_t bytes)
{
	if (!epoch_uses_16ths(epoch, PLACES_16THS) && epoch_pay(epoch, bytes))
		return true;
	if (!has_reserve(epoch, bytes, LEAF_SHARE))
		return false;
	pay_from_reserve(epoch, bytes);
	return true;
}

void epoch_memory_init(struct epoch *epoch, struct owner_budget *budget)
{
	const struct room room = {.take = take_room, .context = epoch};
	const struct room paths = {.take = take_room_of_paths, .context = epoch};

	epoch->memory = budget;
	epoch->payer = EPOCH_FREE;
	epoch->locations.room = (struct room){.take = take_room_of_places, .context = epoch};
	for (size_t i = 0; i < JITBPF_EVENTS_MAX; i++)
		epoch->events[i].profile.room = epoch->events[i].threads.room = paths;
	string_pool_set_room(epoch->strings, &room);
	frame_table_set_room(epoch->frames, &room);
}

void epoch_memory_deinit(struct epoch *epoch)
{
	vec_for_each (payer, &epoch->payers) {
		owner_budget_release(epoch->memory, payer->owner, payer->bytes);
		owner_budget_put(epoch->memory, payer->owner);
	}
	vec_deinit(&epoch->payers);
}

bool epoch_uses_16ths(const struct epoch *epoch, uint32_t parts)
{
	const struct budget_owner *owner;

	if (!is_payer(epoch))
		return false;
	owner = epoch->payers.data[epoch->payer].owner;
	return !owner_budget_allows(epoch->memory, owner, owner->used * (16 - parts) / parts);
}

int epoch_payer(struct epoch *epoch, struct owner_key key, uint32_t *ret)
{
	struct epoch_payer payer = {.key = key};
	int err;

	vec_for_each (known, &epoch->payers) {
		if (known->key.uid == key.uid && known->key.cgroup == key.cgroup) {
			*ret = (uint32_t)(known - epoch->payers.data);
			return 0;
		}
	}
	err = vec_reserve(&epoch->payers, epoch->payers.size + 1);
	err = err ?: owner_budget_get(epoch->memory, key, &payer.owner);
	if (err)
		return err;
	*ret = (uint32_t)epoch->payers.size;
	return vec_push(&epoch->payers, payer);
}

void epoch_refuse(struct epoch *epoch)
{
	if (is_payer(epoch))
		epoch->payers.data[epoch->payer].owner->refused++;
}

int epoch_others(struct epoch *epoch, uint32_t number, uint32_t *ret)
{
	struct epoch_payer *payer = &epoch->payers.data[number];
	uint32_t before = epoch->payer;
	char text[48] = "[others of an unknown user]";
	int size = sizeof(text), err = 0;

	if (payer->owner->key.uid != JITBPF_UNKNOWN_USER)
		size = snprintf(text, sizeof(text), "[others of user %u]", payer->owner->key.uid);
	if (!payer->others) {
		epoch->payer = EPOCH_FREE;
		err = string_pool_add(epoch->strings, text, (size_t)size, &payer->others);
		epoch->payer = before;
	}
	if (!err)
		*ret = payer->others;
	return err;
}

int epoch_location(struct epoch *epoch, enum location_kind kind, uint32_t *ret)
{
	const struct location location = {.kind = kind};
	uint32_t before = epoch->payer;
	int err;

	epoch->payer = EPOCH_FREE;
	err = location_table_add(&epoch->locations, &location, ret);
	epoch->payer = before;
	return err;
}

/* Find or add the frame at the end of a path that is left out. */
static int add_cut(struct epoch *epoch, struct event_counts *counts, uint32_t node, uint32_t *ret)
{
	uint32_t location;
	int err = epoch_location(epoch, LOCATION_LEFT_OUT, &location);

	return err ?: profile_child_of(&counts->profile, node, location, ret);
}

/*
 * Get the names for the rest of a row. The first names are kept, so that the additions of
 * epoch_rest_node() are bounded.
 */
static int rest_of(struct epoch *epoch, uint32_t number, struct epoch_rest *ret)
{
	const struct ledger_process *row = &epoch->ledger.processes.data[number];
	struct epoch_rest *rest;
	int err = 0;

	while (epoch->rests.size <= number) {
		if (vec_push(&epoch->rests, (struct epoch_rest){0}))
			return -ENOMEM;
	}
	rest = &epoch->rests.data[number];
	if (!rest->comm) {
		struct epoch_rest first = {row->comm, row->container, row->unit};

		if (!first.comm)
			err = epoch_others(epoch, epoch->payer, &first.comm);
		if (err)
			return err;
		*rest = first;
	}
	*ret = *rest;
	return 0;
}

int epoch_rest_node(struct epoch *epoch, struct event_counts *counts, uint32_t row, uint32_t *ret)
{
	uint32_t before = epoch->payer, root;
	struct epoch_rest rest;
	int err = rest_of(epoch, row, &rest);

	epoch->payer = EPOCH_FREE;
	err = err ?: profile_node_of(&counts->profile, row, rest.comm, NULL, 0, &root);
	err = err ?: add_cut(epoch, counts, root, ret);
	epoch->payer = before;
	return err;
}

/* Find the node of a path or, if there is room in the reserve, add it. */
static int node_from_reserve(struct epoch *epoch, struct event_counts *counts,
			     const struct epoch_path *path, uint64_t share, uint32_t *ret)
{
	bool room = has_reserve(epoch, (path->count + 1ul) * PROFILE_NODE_BYTES, share);
	size_t nodes = counts->profile.nodes.size;
	uint32_t before = epoch->payer;
	int err;

	epoch->payer = room ? EPOCH_FREE : EPOCH_FULL;
	err = profile_node_of(&counts->profile, path->row, path->comm, path->locations, path->count,
			      ret);
	epoch->payer = before;
	pay_from_reserve(epoch, (counts->profile.nodes.size - nodes) * PROFILE_NODE_BYTES);
	return err > 0 ? -EDQUOT : err;
}

/* Parts of a path that has no room for all of its frames in order. */
struct path_part {
	uint32_t user_kept; /* frames of user space that are in order, as those of the kernel */
	bool leaf_only;	    /* in place of these: the innermost frame */
	bool callers;	    /* the other frames, in no order */
	uint32_t share;	    /* of the reserve */
};

/* From most to least. What a view without the kernel's frames shows as SELF is kept for long. */
static const struct path_part path_parts[] = {
	{.user_kept = 8, .callers = true, .share = CALLERS_SHARE},
	{.user_kept = 4, .callers = true, .share = CALLERS_SHARE},
	{.user_kept = 2, .callers = true, .share = CALLERS_SHARE},
	{.user_kept = 1, .callers = true, .share = SETS_SHARE},
	{.user_kept = 1, .share = SETS_SHARE},
	{.leaf_only = true, .share = LEAF_SHARE},
};

/* The callers of a path, without an order: their different locations between two marks. */
struct caller_set {
	uint32_t locations[LOCATED_FRAMES_MAX + 3];
	uint32_t count;
};

static int compare_numbers(const void *a_, const void *b_)
{
	uint32_t a = *(const uint32_t *)a_, b = *(const uint32_t *)b_;

	return (a > b) - (a < b);
}

/*
 * Get the locations of all but the innermost frame of user space and those of the kernel. The
 * outermost ones were mostly seen first, so that sets that begin with them share nodes.
 */
static int get_callers(struct epoch *epoch, const struct epoch_path *path, struct caller_set *ret)
{
	uint32_t mark, unknown, from = path->kernel_count + 1, last = PROFILE_NO_LOCATION;
	uint32_t *set = ret->locations + 1, count = 0;
	int err = epoch_location(epoch, LOCATION_UNORDERED, &mark);

	err = err ?: epoch_location(epoch, LOCATION_OTHERS, &unknown);
	if (err)
		return err;
	for (uint32_t i = from; i < path->count; i++) {
		bool known = path->locations[i] != PROFILE_NO_LOCATION;

		set[count++] = known ? path->locations[i] : unknown;
	}
	qsort(set, count, sizeof(*set), compare_numbers);
	ret->count = 0;
	ret->locations[ret->count++] = mark;
	for (uint32_t i = 0; i < count; i++) {
		if (set[i] != last)
			ret->locations[ret->count++] = set[i];
		last = ret->locations[ret->count - 1];
	}
	/* Leaf first. */
	for (uint32_t i = 1, j = ret->count - 1; i < j; i++, j--) {
		uint32_t swapped = ret->locations[i];

		ret->locations[i] = ret->locations[j];
		ret->locations[j] = swapped;
	}
	ret->locations[ret->count++] = mark;
	return 0;
}

int epoch_inner_node(struct epoch *epoch, struct event_counts *counts,
		     const struct epoch_path *path, struct epoch_inner *ret)
{
	uint32_t locations[2 * LOCATED_FRAMES_MAX + 4], others;
	struct caller_set callers;
	int err = get_callers(epoch, path, &callers);

	err = err ?: epoch_location(epoch, LOCATION_OTHERS, &others);
	if (err)
		return err;
	err = -EDQUOT;
	for (size_t i = 0; i < ARRAY_SIZE(path_parts) && err == -EDQUOT; i++) {
		const struct path_part *part = &path_parts[i];
		uint32_t kept = part->leaf_only ? 1 : path->kernel_count + part->user_kept;
		struct epoch_path inner = *path;

		inner.locations = locations;
		kept = kept < path->count ? kept : path->count;
		memcpy(locations, path->locations, kept * sizeof(*locations));
		inner.count = kept;
		if (kept < path->count && part->callers) {
			memcpy(locations + kept, callers.locations,
			       callers.count * sizeof(*locations));
			inner.count += callers.count;
		} else if (kept < path->count) {
			locations[inner.count++] = others;
		}
		ret->kept = kept;
		ret->hides = kept < path->count && !part->callers;
		err = node_from_reserve(epoch, counts, &inner, part->share, &ret->node);
	}
	return err;
}

static int count_from(struct epoch *epoch, struct event_counts *counts, bool room, uint32_t node,
		      uint32_t thread, uint64_t amount, uint32_t *ret)
{
	uint32_t before = epoch->payer;
	int err;

	epoch->payer = room ? EPOCH_FREE : EPOCH_FULL;
	err = thread_counts_add(&counts->threads, node, thread, amount, ret);
	epoch->payer = before;
	return err;
}

int epoch_count_left_out(struct epoch *epoch, struct event_counts *counts, uint32_t node,
			 uint32_t thread, uint64_t amount, uint32_t *ret)
{
	size_t size = counts->threads.counts.size;
	bool room = has_reserve(epoch, THREAD_COUNT_BYTES, LEAF_SHARE);
	int err = count_from(epoch, counts, room, node, thread, amount, ret);

	pay_from_reserve(epoch, (counts->threads.counts.size - size) * THREAD_COUNT_BYTES);
	return err;
}

int epoch_count_rest(struct epoch *epoch, struct event_counts *counts, uint32_t node,
		     uint32_t thread, uint64_t amount, uint32_t *ret)
{
	return count_from(epoch, counts, true, node, thread, amount, ret);
}

int epoch_rest_thread(struct epoch *epoch, struct event_counts *counts, uint32_t row, uint32_t *ret)
{
	uint32_t before = epoch->payer, pid = epoch->ledger.processes.data[row].pid;
	struct epoch_rest rest;
	int err = rest_of(epoch, row, &rest);

	epoch->payer = EPOCH_FREE;
	err = err
		      ?: thread_counts_thread(&counts->threads,
					      &(struct sampled_thread){
						      .pid = pid,
						      .tid = pid,
						      .comm = rest.comm,
						      .container = rest.container,
						      .unit = rest.unit,
					      },
					      ret);
	epoch->payer = before;
	return err;
}
