/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Slots that owners share. */
#include <errno.h>
#include <stdint.h>

#include "base/owner_slots.h"
#include "tests/unit/cases.h"

#define COUNT 64u

struct fixture {
	struct owner_slots slots;
	uint32_t evicted[4 * COUNT], evicted_count;
	uint32_t uids[COUNT]; /* of the owners of taken slots */
};

static const struct owner_key first = {.uid = 1}, second = {.uid = 2}, third = {.uid = 3};

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){0};
	assert_int_equal(owner_slots_init(&f.slots, COUNT), 0);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	owner_slots_deinit(&f->slots);
	return 0;
}

static void evict(void *context, uint32_t slot)
{
	struct fixture *f = context;

	f->evicted[f->evicted_count++] = slot;
}

static uint32_t take(struct fixture *f, struct owner_key owner)
{
	uint32_t slot = OWNER_SLOTS_NONE;

	assert_int_equal(owner_slots_take(&f->slots, owner, evict, f, &slot), 0);
	assert_true(slot < COUNT);
	f->uids[slot] = owner.uid;
	return slot;
}

struct slots_of {
	const struct fixture *fixture;
	uint32_t uid;
};

static bool is_of(const void *slots_, uint32_t slot)
{
	const struct slots_of *slots = slots_;

	return slots->fixture->uids[slot] == slots->uid;
}

static uint32_t oldest(const struct fixture *f, struct owner_key owner)
{
	struct slots_of slots = {f, owner.uid};

	return owner_slots_find_idle(&f->slots, is_of, &slots);
}

/* One owner has all slots, and loses its oldest idle one for another. */
CASE_WITH(test_oldest_of_the_largest, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t slots[COUNT], other = take(f, second);

	for (uint32_t i = 0; i < COUNT - 1; i++)
		slots[i] = take(f, first);
	assert_int_equal(f->evicted_count, 0);
	/* The oldest one is used again, the next one is free. */
	assert_int_equal(owner_slots_hold(&f->slots, slots[0]), 0);
	owner_slots_let_go(&f->slots, slots[0]);
	owner_slots_release(&f->slots, slots[1]);
	assert_int_equal(take(f, second), slots[1]);
	assert_int_equal(take(f, second), slots[2]);
	assert_int_equal(take(f, first), slots[3]);
	assert_int_equal(f->evicted_count, 2);
	assert_int_equal(oldest(f, second), other);
	assert_int_equal(oldest(f, first), slots[4]);
	assert_int_equal(oldest(f, third), OWNER_SLOTS_NONE);
}

/* Busy slots stay, and no owner can have all. */
CASE_WITH(test_busy, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t busy = 0, slot;

	for (;;) {
		slot = take(f, first);
		if (owner_slots_hold(&f->slots, slot))
			break;
		assert_int_equal(owner_slots_hold(&f->slots, slot), 0);
		busy++;
	}
	assert_in_range(busy, COUNT / 2, COUNT * 3 / 4);
	assert_int_equal(owner_slots_hold(&f->slots, slot), -EDQUOT);
	for (uint32_t i = 0; i < 3 * COUNT; i++)
		take(f, first);
	for (uint32_t i = 0; i < f->evicted_count; i++)
		assert_false(f->slots.slots[f->evicted[i]].busy);
	slot = take(f, second);
	assert_int_equal(owner_slots_hold(&f->slots, slot), 0);
	assert_int_equal(f->slots.busy.used, busy + 1);
	/* What is busy can be released, and counts no more. */
	owner_slots_release(&f->slots, slot);
	assert_int_equal(f->slots.busy.used, busy);
	assert_int_equal(oldest(f, second), OWNER_SLOTS_NONE);
}

/* The idle slots of one owner are those of the other, whoever floods. */
CASE_WITH(test_flood, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t victim[4];

	for (uint32_t i = 0; i < 4; i++)
		victim[i] = take(f, second);
	for (uint32_t i = 0; i < 3 * COUNT; i++)
		take(f, i % 2 ? first : third);
	for (uint32_t i = 0; i < f->evicted_count; i++) {
		for (uint32_t v = 0; v < 4; v++)
			assert_int_not_equal(f->evicted[i], victim[v]);
	}
	assert_int_equal(f->slots.idle.used, COUNT);
	assert_int_equal(f->slots.queues.size, 3);
}
