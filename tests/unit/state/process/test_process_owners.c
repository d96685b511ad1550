/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "state/process/process_code.h"
#include "state/process/process_table.h"
#include "tests/unit/cases.h"

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

CASE(test_finds_owners)
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

CASE(test_exited_are_forgotten_a_round_later)
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
CASE(test_owner_in_process_table)
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

static int load(struct process *process, uint64_t address, uint64_t id, uint64_t time_ns)
{
	struct code_event event = {
		.kind = JITBPF_CODE_LOAD,
		.origin = {.publisher = JITBPF_PUBLISHER_SHIM, .engine = 1},
		.name = {"code", 4},
		.method_id = id,
		.address = address,
		.size_bytes = 16,
		.time_ns = time_ns,
		.reported_ns = time_ns,
	};

	return process_code_apply(process, &event);
}

static const char *name_at(const struct process *process, uint64_t address, uint64_t time_ns)
{
	struct code_place place;
	const struct code_region *region =
		process_code_find(process, NULL, address, time_ns, &place);

	return region ? region->name : "";
}

/* An owner that has used its share gets no more code, and what was refused has no other name. */
CASE(test_code_within_the_memory_of_the_owner)
{
	struct jitbpf_owner greedy = owner_of(10, 1000, 1), modest = owner_of(20, 2000, 1);
	struct process *first, *second;
	struct module_table modules = {0};
	struct process_table table;
	struct string_pool *strings;
	uint64_t count = 0;

	assert_int_equal(string_pool_create(&strings), 0);
	process_table_init(&table, strings, &modules, &code_budget_default, NULL);
	process_table_set_memory(&table, 1 << 20);
	assert_int_equal(process_table_owner(&table, &greedy), 0);
	assert_int_equal(process_table_owner(&table, &modest), 0);
	first = process_table_find(&table, 10, 0, 1);
	second = process_table_find(&table, 20, 0, 1);
	while (!first->account->counts.over_budget && ++count < 10000)
		assert_int_equal(load(first, 0x1000 + 16 * count, count, 10 + count), 0);
	assert_in_range(count, 500, 5000);
	assert_in_range(table.memory.used, 650000, 730000);
	assert_int_equal(first->account->owner->refused, 1);
	/* A refused load ends what it overwrites. */
	assert_string_equal(name_at(first, 0x1010, UINT64_MAX), "code");
	assert_int_equal(load(first, 0x1000, 20000, 20000), 0);
	assert_string_equal(name_at(first, 0x1000, UINT64_MAX), "");
	/* Code that has ended gives way to new code. */
	assert_int_equal(load(first, 0x1010, 20001, 20001), 0);
	assert_int_equal(load(first, 0x1020, 20002, 20002), 0);
	assert_string_equal(name_at(first, 0x1020, UINT64_MAX), "code");
	/* The other owner has room. */
	for (count = 1; count <= 100; count++)
		assert_int_equal(load(second, 0x1000 + 16 * count, count, 10 + count), 0);
	assert_int_equal(second->account->counts.over_budget, 0);
	/* Another owner of the process pays for all of its memory. */
	greedy = owner_of(10, 3000, 30000);
	assert_int_equal(process_table_owner(&table, &greedy), 0);
	assert_int_equal(first->account->owner->used, first->account->bytes);
	process_table_deinit(&table);
	module_table_deinit(&modules);
	string_pool_destroy(strings);
}

static void map(struct process_table *table, uint64_t address, uint64_t time_ns)
{
	struct {
		struct jitbpf_mapping mapping;
		char path[8];
	} record = {
		.mapping.h = {.size_bytes = sizeof(record),
			      .type = JITBPF_MAPPING,
			      .time_ns = time_ns},
		.mapping.pid = 10,
		.mapping.tid = 10,
		.mapping.address = address,
		.mapping.size_bytes = 4096,
		.path = "//anon",
	};

	assert_int_equal(process_table_map(table, &record.mapping), 0);
}

/* Without room for a mapping, the process has none: those before it would be wrong. */
CASE(test_mappings_within_the_memory_of_the_owner)
{
	struct jitbpf_owner greedy = owner_of(10, 1000, 1);
	struct jitbpf_comm exec = {
		.h = {.size_bytes = sizeof(exec),
		      .type = JITBPF_COMM,
		      .flags = JITBPF_COMM_EXEC,
		      .time_ns = 20000},
		.pid = 10,
		.tid = 10,
	};
	struct module_table modules = {0};
	struct process_table table;
	struct string_pool *strings;
	struct process *process;
	struct space_entry entry;
	uint64_t count = 0;

	assert_int_equal(string_pool_create(&strings), 0);
	process_table_init(&table, strings, &modules, &code_budget_default, NULL);
	process_table_set_memory(&table, 1 << 20);
	assert_int_equal(process_table_owner(&table, &greedy), 0);
	process = process_table_find(&table, 10, 0, 1);
	/* Mappings that have ended give way. */
	for (; count < 10000; count++)
		map(&table, 0x10000, 10 + count);
	assert_false(process->mappings_lost);
	for (count = 1; count < 10000 && !process->mappings_lost; count++)
		map(&table, 0x10000 + count * 4096, 11000);
	assert_in_range(count, 500, 5000);
	assert_false(space_map_find(process->mappings, 0x10000, UINT64_MAX, &entry));
	map(&table, 0x10000, 12000);
	assert_false(space_map_find(process->mappings, 0x10000, UINT64_MAX, &entry));
	assert_true(modules.over_budget >= 2);
	assert_int_equal(process_table_comm(&table, &exec), 0);
	map(&table, 0x10000, 20001);
	assert_true(space_map_find(process->mappings, 0x10000, UINT64_MAX, &entry));
	process_table_deinit(&table);
	module_table_deinit(&modules);
	string_pool_destroy(strings);
}
