/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "agent/publisher/journal/journal_owners.h"
#include "tests/unit/cases.h"
#include "uapi/record.h"

#define SECOND 1000000000ull

static void add_process(struct process_owners *processes, uint32_t pid, uint32_t uid,
			uint64_t cgroup)
{
	struct jitbpf_owner record = {
		.h = {.size_bytes = sizeof(record), .type = JITBPF_OWNER},
		.pid = pid,
		.uid = uid,
		.charged_uid = uid,
		.cgroup = cgroup,
	};

	assert_int_equal(process_owners_take(processes, &record.h), 0);
}

/* A user is one owner, whatever its cgroups; those of root are owners of their own. */
CASE(test_who_is_one)
{
	struct process_owners processes = {0};
	struct journal_owners owners = {0};

	add_process(&processes, 1, 1000, 7);
	add_process(&processes, 2, 1000, 8);
	add_process(&processes, 3, 1001, 7);
	add_process(&processes, 4, 0, 7);
	add_process(&processes, 5, 0, 8);
	for (uint32_t pid = 1; pid <= 5; pid++)
		journal_owners_get(&owners, &processes, pid, SECOND)->served_ns += pid;
	assert_int_equal(owners.owners.size, 4);
	assert_int_equal(journal_owners_get(&owners, &processes, 1, SECOND)->served_ns, 1 + 2);
	assert_int_equal(journal_owners_get(&owners, &processes, 5, SECOND)->served_ns, 5);
	assert_int_equal(journal_owners_get(&owners, NULL, 5, SECOND)->served_ns, 0);
	journal_owners_deinit(&owners);
	process_owners_deinit(&processes);
}

/* What an owner has used stays known until its budget is full again. */
CASE(test_budgets)
{
	struct process_owners processes = {0};
	struct journal_owners owners = {0};
	struct journal_owner *owner;
	uint64_t most;

	add_process(&processes, 1, 1000, 7);
	add_process(&processes, 2, 1001, 7);
	journal_owners_get(&owners, &processes, 2, SECOND)->served_ns = 5;
	owner = journal_owners_get(&owners, &processes, 1, SECOND);
	most = owner->budget.bytes.level;
	assert_true(journal_allowance_take(&owner->budget.bytes, most));
	journal_owners_end_round(&owners, SECOND);
	assert_int_equal(owners.owners.size, 1);
	owner = journal_owners_get(&owners, &processes, 1, 2 * SECOND);
	assert_int_equal(owner->budget.bytes.level, owner->budget.bytes.per_second);
	owner->late_ns = 98 * SECOND;
	assert_true(journal_owner_is_late(owner, 100 * SECOND));
	journal_owners_end_round(&owners, 100 * SECOND);
	assert_int_equal(owners.owners.size, 1);
	journal_owners_end_round(&owners, 102 * SECOND);
	assert_int_equal(owners.owners.size, 0);
	journal_owners_deinit(&owners);
	process_owners_deinit(&processes);
}

CASE(test_too_many)
{
	struct process_owners processes = {0};
	struct journal_owners owners = {0};

	for (uint32_t pid = 1; pid <= JOURNAL_OWNERS_MAX + 10; pid++) {
		add_process(&processes, pid, 1000 + pid, 7);
		journal_owners_get(&owners, &processes, pid, SECOND)->served_ns++;
	}
	assert_int_equal(owners.owners.size, JOURNAL_OWNERS_MAX);
	assert_int_equal(owners.owners.data[JOURNAL_OWNERS_MAX - 1].served_ns, 11);
	journal_owners_deinit(&owners);
	process_owners_deinit(&processes);
}
