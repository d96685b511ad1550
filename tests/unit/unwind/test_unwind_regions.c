/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Regions, their rows and requests, of owners of which one has too many. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "tests/unit/cases.h"
#include "unwind/unwinder_state.h"

#define REGIONS	   (1u << 14)
#define MANY_ROWS  80000u
#define VICTIM_ID  7u
#define FIRST_ID   1000u
#define KNOWN_ROWS 3u

struct fixture {
	struct unwind_regions regions;
	struct process attacker, victim;
};

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){
		.attacker.owner = {.uid = 1, .charged_uid = 1},
		.victim.owner = {.uid = 2, .charged_uid = 2},
	};
	assert_int_equal(unwind_regions_init(&f.regions), 0);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unwind_regions_deinit(&f->regions);
	return 0;
}

static void ask(struct fixture *f, const struct process *process, uint64_t identity)
{
	static const uint8_t copy[4];

	assert_int_equal(unwind_regions_ask(&f->regions, identity, process, identity << 12), 0);
	assert_non_null(unwind_regions_copied(&f->regions, identity, copy, sizeof(copy)));
}

static void answer(struct fixture *f, uint64_t identity, uint32_t rows)
{
	struct unwind_answer answer = {.request.code.region = identity};

	for (uint32_t i = 0; i < rows; i++)
		assert_int_equal(unwind_rows_add(&answer.rows, i, UNWIND_CFA(UNWIND_CFA_RSP, 8),
						 i % 2 ? 0 : UNWIND_RBP_KEPT),
				 0);
	assert_int_equal(unwind_regions_take(&f->regions, &answer), 0);
	unwind_rows_deinit(&answer.rows);
}

static void ask_and_answer(struct fixture *f, const struct process *process, uint64_t identity,
			   uint32_t rows)
{
	ask(f, process, identity);
	answer(f, identity, rows);
}

static enum unwind_region_state state_of(struct fixture *f, uint64_t identity)
{
	const struct unwind_region *region = unwind_regions_find(&f->regions, identity);

	return region ? region->state : UNWIND_REGION_GONE;
}

CASE_WITH(test_many_regions, setup, teardown)
{
	struct fixture *f = *state;

	ask_and_answer(f, &f->victim, VICTIM_ID, KNOWN_ROWS);
	for (uint32_t i = 0; i < 2 * REGIONS; i++)
		ask_and_answer(f, &f->attacker, FIRST_ID + i, 1);
	assert_int_equal(state_of(f, VICTIM_ID), UNWIND_REGION_KNOWN);
	assert_int_equal(state_of(f, FIRST_ID), UNWIND_REGION_GONE);
	assert_int_equal(state_of(f, FIRST_ID + 2 * REGIONS - 1), UNWIND_REGION_KNOWN);
	assert_int_equal(f->regions.owners.idle.used, REGIONS);
}

CASE_WITH(test_many_rows, setup, teardown)
{
	struct fixture *f = *state;

	ask_and_answer(f, &f->victim, VICTIM_ID, KNOWN_ROWS);
	for (uint32_t i = 0; i < 12; i++)
		ask_and_answer(f, &f->attacker, FIRST_ID + i, MANY_ROWS);
	assert_int_equal(state_of(f, VICTIM_ID), UNWIND_REGION_KNOWN);
	assert_int_equal(unwind_regions_find(&f->regions, VICTIM_ID)->rows.rows.size, KNOWN_ROWS);
	assert_int_equal(state_of(f, FIRST_ID + 11), UNWIND_REGION_KNOWN);
	assert_true(f->regions.rows.used <= f->regions.rows.limit);
	assert_true(f->regions.rows.used > f->regions.rows.limit / 2);
}

/* Regions whose requests are pending stay. No owner can have all slots so. */
CASE_WITH(test_pending, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t asked = 0;

	while (!unwind_regions_ask(&f->regions, FIRST_ID + asked, &f->attacker, 0))
		asked++;
	assert_in_range(asked, REGIONS / 2, REGIONS * 3 / 4);
	assert_int_equal(unwind_regions_ask(&f->regions, 1, &f->attacker, 0), -EBUSY);
	assert_int_equal(state_of(f, 1), UNWIND_REGION_GONE);
	ask_and_answer(f, &f->victim, VICTIM_ID, KNOWN_ROWS);
	assert_int_equal(state_of(f, VICTIM_ID), UNWIND_REGION_KNOWN);
	/* Without its process, a region stays until it is answered. */
	unwind_regions_forget_retired(&f->regions);
	answer(f, FIRST_ID, 1);
	unwind_regions_refuse(&f->regions, FIRST_ID + 1);
	assert_int_equal(state_of(f, FIRST_ID + 1), UNWIND_REGION_UNREAD);
	assert_int_equal(unwind_regions_ask(&f->regions, 1, &f->attacker, 0), 0);
}

/* The last requests. */
struct accepted {
	struct unwind_request requests[2 * OWNER_CGROUPS_MAX];
	size_t count;
};

static int accept(void *accepted_, const struct unwind_request *request)
{
	struct accepted *accepted = accepted_;

	accepted->requests[accepted->count++ % (2 * OWNER_CGROUPS_MAX)] = *request;
	return 0;
}

/* Requests of many processes of one owner leave some for another. */
CASE_WITH(test_requests, setup, teardown)
{
	struct accepted accepted = {.count = 0};
	struct unwinder u = {.service = {.request = accept, .context = &accepted},
			     .outstanding.limit = UNWIND_OUTSTANDING_MAX};
	struct unwind_request request = {0};
	struct fixture *f = *state;
	struct process *attacker = &f->attacker;
	uint32_t asked = 0;

	for (attacker->pid = 1; attacker->pid < UNWIND_OUTSTANDING_MAX; attacker->pid++) {
		struct unwind_account account = {&u, attacker};

		request.owner = process_owner_key(&attacker->owner);
		request.pid = attacker->pid;
		while (unwind_may_ask(&account, UNWIND_ASKED_MAX)) {
			assert_int_equal(unwind_ask(&u, &request), 0);
			asked++;
		}
	}
	assert_in_range(asked, UNWIND_OUTSTANDING_MAX / 2, UNWIND_OUTSTANDING_MAX * 3 / 4);
	f->victim.pid = UNWIND_OUTSTANDING_MAX - 1;
	assert_true(unwind_may_ask(&(struct unwind_account){&u, &f->victim}, UNWIND_ASKED_MAX));
	attacker->pid = UNWIND_OUTSTANDING_MAX - 1;
	assert_false(unwind_may_ask(&(struct unwind_account){&u, attacker}, UNWIND_ASKED_MAX));
	unwind_answered(&u, &accepted.requests[0]);
	assert_true(unwind_may_ask(&(struct unwind_account){&u, attacker}, UNWIND_ASKED_MAX));
	assert_int_equal(u.outstanding.used, asked - 1);
	owner_budget_deinit(&u.outstanding);
}

/* More containers of a user than are owners count as one, also if some have nothing any more. */
CASE_WITH(test_requests_of_containers, setup, teardown)
{
	struct accepted accepted = {.count = 0};
	struct unwinder u = {.service = {.request = accept, .context = &accepted},
			     .outstanding.limit = UNWIND_OUTSTANDING_MAX};
	uint32_t count = OWNER_CGROUPS_MAX + 2;

	for (uint32_t i = 0; i < count; i++) {
		struct unwind_request request = {.pid = i, .owner = {.uid = 1, .cgroup = i + 1}};

		assert_int_equal(unwind_ask(&u, &request), 0);
	}
	for (uint32_t i = 0; i < count; i++) {
		unwind_answered(&u, &accepted.requests[i]);
		assert_int_equal(u.outstanding.used, count - i - 1);
	}
	assert_int_equal(u.outstanding.owners.size, 0);
	owner_budget_deinit(&u.outstanding);
}

/* Likewise for rows: those of a container that has no owner of its own do not cost others theirs.
 */
CASE_WITH(test_rows_of_containers, setup, teardown)
{
	struct fixture *f = *state;
	struct process containers[OWNER_CGROUPS_MAX + 1] = {0};
	struct process *last = &containers[OWNER_CGROUPS_MAX];

	ask_and_answer(f, &f->victim, VICTIM_ID, KNOWN_ROWS);
	for (uint32_t i = 0; i <= OWNER_CGROUPS_MAX; i++) {
		containers[i].owner =
			(struct process_owner){.uid = 1, .charged_uid = 1, .cgroup = i + 1};
		ask_and_answer(f, &containers[i], FIRST_ID + i, 1);
	}
	for (uint32_t i = 0; i < 12; i++)
		ask_and_answer(f, last, 2 * FIRST_ID + i, MANY_ROWS);
	assert_true(f->regions.rows.used <= f->regions.rows.limit);
	ask_and_answer(f, &f->victim, VICTIM_ID + 1, KNOWN_ROWS);
	assert_int_equal(state_of(f, VICTIM_ID), UNWIND_REGION_KNOWN);
	assert_int_equal(state_of(f, VICTIM_ID + 1), UNWIND_REGION_KNOWN);
	assert_int_equal(state_of(f, 2 * FIRST_ID + 11), UNWIND_REGION_KNOWN);
	unwind_regions_forget_retired(&f->regions);
}
