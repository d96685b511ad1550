/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/owner_slots.h"

#include <errno.h>
#include <stdlib.h>

#define NONE OWNER_SLOTS_NONE

/* The slots of an owner. A queue without slots is freed. */
struct owner_slots_queue {
	struct owner_key key;		  /* as the caller passed it */
	struct budget_owner *busy, *idle; /* references */
	uint32_t count;			  /* of all slots */
	uint32_t oldest, newest;	  /* idle ones; NONE: there are none */
};

int owner_slots_init(struct owner_slots *slots, uint32_t count)
{
	*slots = (struct owner_slots){
		.slots = calloc(count, sizeof(*slots->slots)),
		.count = count,
		.free = NONE,
		.busy.limit = count,
		.idle.limit = count,
	};
	return slots->slots ? 0 : -ENOMEM;
}

void owner_slots_deinit(struct owner_slots *slots)
{
	free(slots->slots);
	vec_for_each (queue, &slots->queues)
		free(*queue);
	vec_deinit(&slots->queues);
	owner_budget_deinit(&slots->busy);
	owner_budget_deinit(&slots->idle);
}

static struct owner_slots_queue *find_queue(const struct owner_slots *slots, struct owner_key key)
{
	vec_for_each (queue, &slots->queues) {
		if ((*queue)->key.uid == key.uid && (*queue)->key.cgroup == key.cgroup)
			return *queue;
	}
	return NULL;
}

static void put_budgets(struct owner_slots *slots, struct owner_slots_queue *queue)
{
	if (queue->busy)
		owner_budget_put(&slots->busy, queue->busy);
	if (queue->idle)
		owner_budget_put(&slots->idle, queue->idle);
	free(queue);
}

static struct owner_slots_queue *get_queue(struct owner_slots *slots, struct owner_key key)
{
	struct owner_slots_queue *queue = find_queue(slots, key);

	if (queue)
		return queue;
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return NULL;
	queue->key = key;
	queue->oldest = queue->newest = NONE;
	if (owner_budget_get(&slots->busy, key, &queue->busy) ||
	    owner_budget_get(&slots->idle, key, &queue->idle) || vec_push(&slots->queues, queue)) {
		put_budgets(slots, queue);
		return NULL;
	}
	return queue;
}

static void drop_queue_if_empty(struct owner_slots *slots, struct owner_slots_queue *queue)
{
	if (queue->count)
		return;
	vec_for_each (at, &slots->queues) {
		if (*at != queue)
			continue;
		*at = slots->queues.data[--slots->queues.size];
		break;
	}
	put_budgets(slots, queue);
}

static void append(struct owner_slots *slots, uint32_t number)
{
	struct owner_slot *slot = &slots->slots[number];
	struct owner_slots_queue *queue = slot->queue;

	slot->busy = false;
	slot->older = queue->newest;
	slot->newer = NONE;
	if (slot->older == NONE)
		queue->oldest = number;
	else
		slots->slots[slot->older].newer = number;
	queue->newest = number;
	owner_budget_add(&slots->idle, queue->idle, 1);
}

static void unlink_idle(struct owner_slots *slots, uint32_t number)
{
	struct owner_slot *slot = &slots->slots[number];
	struct owner_slots_queue *queue = slot->queue;

	if (slot->older == NONE)
		queue->oldest = slot->newer;
	else
		slots->slots[slot->older].newer = slot->newer;
	if (slot->newer == NONE)
		queue->newest = slot->older;
	else
		slots->slots[slot->newer].older = slot->older;
	owner_budget_release(&slots->idle, queue->idle, 1);
}

/* Several queues can share one budget owner, beyond the limits of owner_budget.h. */
static struct owner_slots_queue *queue_of(const struct owner_slots *slots,
					  const struct budget_owner *idle)
{
	vec_for_each (queue, &slots->queues) {
		if ((*queue)->idle == idle && (*queue)->oldest != NONE)
			return *queue;
	}
	return NULL;
}

/*
 * Returns the oldest idle slot of the owner with most idle slots, or NONE. Of equal owners, `wants`
 * loses the slot.
 */
static uint32_t slot_to_evict(const struct owner_slots *slots, struct owner_slots_queue *wants)
{
	struct owner_slots_queue *from =
		queue_of(slots, owner_budget_largest(&slots->idle, wants->idle, 0));

	return from ? from->oldest : NONE;
}

int owner_slots_take(struct owner_slots *slots, struct owner_key owner, owner_slots_evict_fn evict,
		     void *context, uint32_t *ret)
{
	struct owner_slots_queue *queue = get_queue(slots, owner);
	uint32_t slot;

	if (!queue)
		return -ENOMEM;
	queue->count++; /* the queue stays if its own slot is evicted */
	if (slots->free == NONE && slots->used == slots->count) {
		slot = slot_to_evict(slots, queue);
		if (slot == NONE) {
			queue->count--;
			drop_queue_if_empty(slots, queue);
			return -EBUSY;
		}
		evict(context, slot);
		owner_slots_release(slots, slot);
	}
	slot = slots->free;
	if (slot == NONE)
		slot = slots->used++;
	else
		slots->free = slots->slots[slot].newer;
	slots->slots[slot] = (struct owner_slot){.queue = queue};
	append(slots, slot);
	*ret = slot;
	return 0;
}

int owner_slots_hold(struct owner_slots *slots, uint32_t number)
{
	struct owner_slot *slot = &slots->slots[number];

	if (slot->busy)
		return 0;
	if (owner_budget_charge(&slots->busy, slot->queue->busy, 1))
		return -EDQUOT;
	unlink_idle(slots, number);
	slot->busy = true;
	return 0;
}

void owner_slots_let_go(struct owner_slots *slots, uint32_t number)
{
	struct owner_slot *slot = &slots->slots[number];

	if (!slot->busy)
		return;
	owner_budget_release(&slots->busy, slot->queue->busy, 1);
	append(slots, number);
}

void owner_slots_release(struct owner_slots *slots, uint32_t number)
{
	struct owner_slot *slot = &slots->slots[number];
	struct owner_slots_queue *queue = slot->queue;

	owner_slots_let_go(slots, number);
	unlink_idle(slots, number);
	*slot = (struct owner_slot){.newer = slots->free};
	slots->free = number;
	queue->count--;
	drop_queue_if_empty(slots, queue);
}

uint32_t owner_slots_find_idle(const struct owner_slots *slots, owner_slots_match_fn match,
			       const void *context)
{
	vec_for_each (queue, &slots->queues) {
		for (uint32_t slot = (*queue)->oldest; slot != NONE;
		     slot = slots->slots[slot].newer) {
			if (match(context, slot))
				return slot;
		}
	}
	return NONE;
}
