/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/code/code_copies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define NONE UINT32_MAX

/* The copies of an owner, oldest first. A queue without copies is freed. */
struct code_copies_queue {
	struct budget_owner *owner; /* a reference */
	uint32_t oldest, newest;    /* slots; undefined without copies */
	uint32_t count;
};

int code_copies_init(struct code_copies *copies)
{
	*copies = (struct code_copies){
		.slots = calloc(CODE_COPIES_MAX, sizeof(*copies->slots)),
		.free = NONE,
		.budget.limit = CODE_COPIES_BYTES_MAX,
		.payer.uid = OWNER_UNKNOWN_UID,
		.copy_bytes_max = CODE_COPIES_COPY_MAX,
	};
	return copies->slots ? 0 : -ENOMEM;
}

void code_copies_deinit(struct code_copies *copies)
{
	for (uint32_t i = 0; i < copies->slots_used; i++)
		free(copies->slots[i].bytes);
	free(copies->slots);
	index_map_deinit(&copies->index);
	vec_for_each (queue, &copies->queues)
		free(*queue);
	vec_deinit(&copies->queues);
	owner_budget_deinit(&copies->budget);
}

static uint64_t hash_of(uint64_t identity)
{
	return hash_mix(identity, 1);
}

static bool equal(const void *items, uint32_t item, const void *key)
{
	return ((const struct code_copy *)items)[item].identity == *(const uint64_t *)key;
}

static struct code_copy *find(const struct code_copies *copies, uint64_t identity)
{
	uint32_t slot =
		index_map_find(&copies->index, hash_of(identity), equal, copies->slots, &identity);

	return slot == INDEX_MAP_NONE ? NULL : &copies->slots[slot];
}

const struct code_copy *code_copies_find(struct code_copies *copies, uint64_t identity)
{
	struct code_copy *copy = find(copies, identity);

	if (copy)
		copy->used = true;
	return copy;
}

/* --- queues --------------------------------------------------------------------- */

static struct code_copies_queue *find_queue(const struct code_copies *copies,
					    const struct budget_owner *owner)
{
	vec_for_each (queue, &copies->queues) {
		if ((*queue)->owner == owner)
			return *queue;
	}
	return NULL;
}

/* Find or add the queue of an owner. */
static struct code_copies_queue *get_queue(struct code_copies *copies, struct owner_key key)
{
	struct code_copies_queue *queue;
	struct budget_owner *owner;

	if (owner_budget_get(&copies->budget, key, &owner))
		return NULL;
	queue = find_queue(copies, owner);
	if (queue) {
		owner_budget_put(&copies->budget, owner); /* the queue has a reference */
		return queue;
	}
	queue = calloc(1, sizeof(*queue));
	if (!queue || vec_push(&copies->queues, queue)) {
		free(queue);
		owner_budget_put(&copies->budget, owner);
		return NULL;
	}
	queue->owner = owner;
	return queue;
}

static void drop_queue_if_empty(struct code_copies *copies, struct code_copies_queue *queue)
{
	if (queue->count)
		return;
	vec_for_each (at, &copies->queues) {
		if (*at != queue)
			continue;
		*at = copies->queues.data[--copies->queues.size];
		break;
	}
	owner_budget_put(&copies->budget, queue->owner);
	free(queue);
}

static void append(struct code_copies *copies, struct code_copies_queue *queue, uint32_t slot)
{
	if (queue->count++)
		copies->slots[queue->newest].newer = slot;
	else
		queue->oldest = slot;
	queue->newest = slot;
}

static uint32_t take_oldest(struct code_copies *copies, struct code_copies_queue *queue)
{
	uint32_t slot = queue->oldest;

	queue->oldest = copies->slots[slot].newer;
	queue->count--;
	return slot;
}

/* --- copies --------------------------------------------------------------------- */

static uint32_t charge_of(uint32_t room)
{
	return room > CODE_COPIES_CHARGE ? room : CODE_COPIES_CHARGE;
}

/* Evict the oldest copy of an owner, or make it the newest one if it was used. */
static void pass_oldest(struct code_copies *copies, struct code_copies_queue *queue)
{
	uint32_t slot = take_oldest(copies, queue);
	struct code_copy *copy = &copies->slots[slot];

	if (copy->used) {
		copy->used = false;
		append(copies, queue, slot);
		return;
	}
	index_map_remove(&copies->index, hash_of(copy->identity), slot);
	owner_budget_release(&copies->budget, queue->owner, charge_of(copy->room));
	free(copy->bytes);
	*copy = (struct code_copy){.newer = copies->free};
	copies->free = slot;
}

/*
 * Evict copies until the budget has room. Returns false if the owner itself would have to lose
 * copies, and has none.
 */
static bool make_room(struct code_copies *copies, struct code_copies_queue *queue, uint32_t charge)
{
	while (!owner_budget_has_room(&copies->budget, charge)) {
		struct budget_owner *largest =
			owner_budget_largest(&copies->budget, queue->owner, charge);
		struct code_copies_queue *from = find_queue(copies, largest);

		if (!from || !from->count)
			return false;
		pass_oldest(copies, from);
		if (from != queue)
			drop_queue_if_empty(copies, from);
	}
	return true;
}

/* Returns a free slot. There is one, since each copy is charged at least CODE_COPIES_CHARGE. */
static uint32_t take_slot(struct code_copies *copies)
{
	uint32_t slot = copies->free;

	if (slot == NONE)
		return copies->slots_used++;
	copies->free = copies->slots[slot].newer;
	return slot;
}

static struct code_copy *add(struct code_copies *copies, struct code_copies_queue *queue,
			     const struct code_copy *copy)
{
	uint32_t slot;

	if (!copy->bytes || !make_room(copies, queue, charge_of(copy->room)))
		return NULL;
	slot = take_slot(copies);
	copies->slots[slot] = *copy;
	if (index_map_insert(&copies->index, hash_of(copy->identity), slot)) {
		copies->slots[slot] = (struct code_copy){.newer = copies->free};
		copies->free = slot;
		return NULL;
	}
	owner_budget_add(&copies->budget, queue->owner, charge_of(copy->room));
	append(copies, queue, slot);
	return &copies->slots[slot];
}

static struct code_copy *begin(struct code_copies *copies, uint64_t identity,
			       struct owner_key owner, uint64_t size_bytes)
{
	uint32_t room =
		size_bytes < copies->copy_bytes_max ? (uint32_t)size_bytes : copies->copy_bytes_max;
	struct code_copies_queue *queue = get_queue(copies, owner);
	struct code_copy copy = {.identity = identity, .room = room}, *added;

	if (!queue)
		return NULL;
	copy.bytes = malloc(room);
	added = add(copies, queue, &copy);
	if (!added) {
		free(copy.bytes);
		drop_queue_if_empty(copies, queue);
	}
	return added;
}

void code_copies_add(struct code_copies *copies, uint64_t identity, struct owner_key owner,
		     const struct jitbpf_code *piece)
{
	uint32_t size_bytes = piece->h.size_bytes - (uint32_t)sizeof(*piece);
	struct code_copy *copy = find(copies, identity);

	if (!copy && !piece->offset)
		copy = begin(copies, identity, owner, piece->size_bytes);
	if (!copy || piece->offset != copy->size_bytes)
		return;
	if (size_bytes > copy->room - copy->size_bytes)
		size_bytes = copy->room - copy->size_bytes;
	memcpy(copy->bytes + copy->size_bytes, piece->data, size_bytes);
	copy->size_bytes += size_bytes;
}

void code_copies_put(struct code_copies *copies, uint64_t identity, const uint8_t *bytes,
		     size_t size_bytes)
{
	struct code_copy *copy = find(copies, identity);

	/* If the copy is longer than the bytes that were read, the rest of it stays. */
	if (!copy)
		copy = begin(copies, identity, copies->payer, size_bytes);
	if (!copy)
		return;
	if (size_bytes > copy->room)
		size_bytes = copy->room;
	memcpy(copy->bytes, bytes, size_bytes);
	if (copy->size_bytes < size_bytes)
		copy->size_bytes = (uint32_t)size_bytes;
}

void code_copies_patch(struct code_copies *copies, uint64_t identity, uint64_t offset,
		       const uint8_t *bytes, size_t size_bytes)
{
	struct code_copy *copy = find(copies, identity);

	if (!copy || offset >= copy->size_bytes)
		return;
	if (size_bytes > copy->size_bytes - offset)
		size_bytes = copy->size_bytes - offset;
	memcpy(copy->bytes + offset, bytes, size_bytes);
}
