/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "state/process/process_table.h"

static struct jitbpf_owner owner_of(uint32_t pid, uint32_t uid, uint64_t time_ns)
{
	return (struct jitbpf_owner){
		.h = {.size_bytes = sizeof(struct jitbpf_owner),
		      .type = JITBPF_OWNER,
		      .time_ns = time_ns},
		.pid = pid,
		.uid = uid,
		.charged_uid = uid + 1,
		.fs_uid = uid + 2,
		.cgroup = 77,
	};
}

static void take(struct process_owners *owners, uint32_t pid, uint32_t uid)
{
	struct jitbpf_owner record = owner_of(pid, uid, 0);

	assert_int_equal(process_owners_take(owners, &record.h), 0);
}

static void exits(struct process_owners *owners, uint32_t pid)
{
	struct jitbpf_task record = {
		.h = {.size_bytes = sizeof(record), .type = JITBPF_EXIT},
		.pid = pid,
		.tid = pid,
	};

	assert_int_equal(process_owners_take(owners, &record.h), 0);
}

static bool is_known(const struct process_owners *owners, uint32_t pid)
{
	return process_owners_find(owners, pid).uid != JITBPF_UNKNOWN_USER;
}

static void test_finds_owners(void **state)
{
	struct process_owners owners = {0};
	struct process_owner owner;

	assert_false(is_known(&owners, 5));
	take(&owners, 5, 1000);
	take(&owners, 6, 2000);
	take(&owners, 5, 1001);
	owner = process_owners_find(&owners, 5);
	assert_int_equal(owner.uid, 1001);
	assert_int_equal(process_owner_key(&owner).uid, 1002);
	assert_int_equal(process_owner_key(&owner).cgroup, 77);
	assert_int_equal(process_owners_find(&owners, 6).fs_uid, 2002);
	process_owners_deinit(&owners);
}

static void test_exited_are_forgotten_a_round_later(void **state)
{
	struct process_owners owners = {0};

	for (uint32_t pid = 1; pid <= 100; pid++)
		take(&owners, pid, pid);
	process_owners_end_round(&owners);
	for (uint32_t pid = 1; pid <= 99; pid += 2)
		exits(&owners, pid);
	exits(&owners, 500);
	take(&owners, 3, 30); /* the pid is reused */
	process_owners_end_round(&owners);
	assert_int_equal(process_owners_find(&owners, 1).uid, 1);
	exits(&owners, 2);
	process_owners_end_round(&owners);
	assert_false(is_known(&owners, 1));
	assert_int_equal(process_owners_find(&owners, 2).uid, 2);
	assert_int_equal(process_owners_find(&owners, 3).uid, 30);
	process_owners_end_round(&owners);
	assert_false(is_known(&owners, 2));
	assert_int_equal(owners.processes.size, 50);
	assert_int_equal(owners.exited.size, 0);
	for (uint32_t pid = 4; pid <= 100; pid += 2)
		assert_int_equal(process_owners_find(&owners, pid).uid, pid);
	process_owners_deinit(&owners);
}

/* A child has the owner of its parent until its own is reported. */
static void test_owner_in_process_table(void **state)
{
	struct jitbpf_task fork = {
		.h = {.size_bytes = sizeof(fork), .type = JITBPF_FORK, .time_ns = 200},
		.pid = 11,
		.tid = 11,
		.parent_pid = 10,
		.parent_tid = 10,
	};
	struct jitbpf_owner parent = owner_of(10, 1000, 100), child = owner_of(11, 2000, 300);
	struct module_table modules = {0};
	struct process_table table;
	struct string_pool *strings;
	struct process *process;

	assert_int_equal(string_pool_create(&strings), 0);
	process_table_init(&table, strings, &modules, &code_budget_default, NULL);
	assert_int_equal(process_table_at(&table, 10, 0, 50, &process), 0);
	assert_true(process->owner.uid == JITBPF_UNKNOWN_USER);
	assert_int_equal(process_table_owner(&table, &parent), 0);
	assert_int_equal(process->owner.uid, 1000);
	assert_int_equal(process_table_fork(&table, &fork), 0);
	process = process_table_find(&table, 11, 0, 250);
	assert_int_equal(process->owner.charged_uid, 1001);
	assert_int_equal(process_table_owner(&table, &child), 0);
	assert_int_equal(process->owner.charged_uid, 2001);
	process_table_deinit(&table);
	module_table_deinit(&modules);
	string_pool_destroy(strings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_owners),
		cmocka_unit_test(test_exited_are_forgotten_a_round_later),
		cmocka_unit_test(test_owner_in_process_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
