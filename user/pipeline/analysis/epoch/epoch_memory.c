/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/analysis/epoch/epoch_memory.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/scope.h"
#include "locate/locate.h"
#include "pipeline/analysis/epoch/epoch.h"
#include "uapi/record.h"

/* Parts of an owner's share, in 16ths, that paths and threads may use, and that locations may. */
#define PATHS_16THS  14
#define PLACES_16THS 15

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

bool epoch_has_reserve(const struct epoch *epoch, uint64_t bytes, uint64_t share)
{
	const struct epoch_payer *payer;

	if (!is_payer(epoch))
		return epoch->payer == EPOCH_FREE;
	payer = &epoch->payers.data[epoch->payer];
	return (payer->cut_bytes + bytes) * share <= payer->bytes;
}

void epoch_pay_from_reserve(struct epoch *epoch, uint64_t bytes)
{
	if (is_payer(epoch))
		epoch->payers.data[epoch->payer].cut_bytes += bytes;
}

/* The innermost frame of a path that is cut needs its location. */
static bool take_room_of_places(void *epoch, uint64_t bytes)
{
	if (!epoch_uses_16ths(epoch, PLACES_16THS) && epoch_pay(epoch, bytes))
		return true;
	if (!epoch_has_reserve(epoch, bytes, EPOCH_LEAF_SHARE))
		return false;
	epoch_pay_from_reserve(epoch, bytes);
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
	bool room = epoch_has_reserve(epoch, THREAD_COUNT_BYTES, EPOCH_LEAF_SHARE);
	int err = count_from(epoch, counts, room, node, thread, amount, ret);

	epoch_pay_from_reserve(epoch, (counts->threads.counts.size - size) * THREAD_COUNT_BYTES);
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
