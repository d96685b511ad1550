/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The memory of processes themselves: what an owner of many has no room for. */
#include <stdint.h>

#include "state/process/process_table_state.h"
#include "tests/unit/cases.h"

#define MEMORY	  (4u << 20)
#define PROCESSES 10000
#define SECOND_NS 1000000000ull

static struct process_table table;
static struct module_table modules;
static struct string_pool *strings;

static int setup(void **state)
{
	modules = (struct module_table){0};
	assert_int_equal(string_pool_create(&strings), 0);
	process_table_init(&table, strings, &modules, &code_budget_default, NULL);
	process_table_set_memory(&table, MEMORY);
	return 0;
}

static int teardown(void **state)
{
	process_table_deinit(&table);
	module_table_deinit(&modules);
	string_pool_destroy(strings);
	return 0;
}

static void own(uint32_t pid, uint32_t uid)
{
	const struct jitbpf_owner owner = {
		.h = {.size_bytes = sizeof(owner), .type = JITBPF_OWNER, .time_ns = 1},
		.pid = pid,
		.charged_uid = uid,
		.cgroup = 1,
	};

	assert_int_equal(process_table_owner(&table, &owner), 0);
}

static void apply(int (*apply_task)(struct process_table *, const struct jitbpf_task *),
		  uint32_t pid, uint32_t parent, uint64_t time_ns)
{
	const struct jitbpf_task task = {
		.h = {.size_bytes = sizeof(task), .time_ns = time_ns},
		.pid = pid,
		.tid = pid,
		.parent_pid = parent,
		.parent_tid = parent,
	};

	assert_int_equal(apply_task(&table, &task), 0);
}

static void exec(uint32_t pid, uint64_t time_ns)
{
	const struct jitbpf_comm comm = {
		.h = {.size_bytes = sizeof(comm), .flags = JITBPF_COMM_EXEC, .time_ns = time_ns},
		.pid = pid,
		.tid = pid,
		.comm = "exec",
	};

	assert_int_equal(process_table_comm(&table, &comm), 0);
}

static const struct process *latest(uint32_t pid)
{
	return process_table_latest(&table, pid);
}

static void make_many(void)
{
	own(1000, 1);
	for (uint32_t i = 1; i < PROCESSES; i++)
		apply(process_table_fork, 1000 + i, 1000, SECOND_NS);
}

CASE_WITH(many_processes_have_no_maps, setup, teardown)
{
	unsigned without = 0;

	make_many();
	vec_for_each (process, &table.processes)
		without += !(*process)->mappings;
	assert_in_range(without, PROCESSES / 2, PROCESSES - 100);
	assert_true(table.memory.used <= MEMORY);
	assert_true(latest(1000)->account->owner->refused >= without);
	/* Another user has room. */
	own(7, 2);
	apply(process_table_fork, 8, 7, SECOND_NS);
	assert_non_null(latest(7)->mappings);
	assert_non_null(latest(8)->code);
}

CASE_WITH(they_have_maps_again_when_there_is_room, setup, teardown)
{
	uint32_t last = 1000 + PROCESSES - 1;

	make_many();
	assert_null(latest(last)->mappings);
	exec(last, SECOND_NS + 1);
	assert_null(latest(last)->mappings);
	for (uint32_t i = 1; i < PROCESSES - 1; i++)
		apply(process_table_exit, 1000 + i, 0, 2 * SECOND_NS);
	process_table_forget(&table, 5 * SECOND_NS);
	exec(last, 5 * SECOND_NS);
	assert_non_null(latest(last)->mappings);
	assert_non_null(latest(last)->code);
	assert_false(latest(last)->mappings_lost);
}

/* Processes of an owner without memory are not kept after their end; all others are. */
CASE_WITH(ended_processes_are_freed, setup, teardown)
{
	make_many();
	own(7, 2);
	for (uint32_t i = 1; i < PROCESSES; i++)
		apply(process_table_exit, 1000 + i, 0, 2 * SECOND_NS);
	apply(process_table_exit, 7, 0, 2 * SECOND_NS);
	for (int i = 0; i < 3; i++)
		process_table_forget(&table, (5 + (uint64_t)i) * SECOND_NS);
	assert_null(latest(1000 + PROCESSES - 1));
	assert_non_null(latest(7));
	for (int i = 0; i < 3; i++)
		process_table_forget(&table, (50 + (uint64_t)i) * SECOND_NS);
	assert_null(latest(1001));
	assert_null(latest(7));
	assert_true(table.memory.used <= 2 * (PROCESS_BYTES + PROCESS_MAPS_BYTES));
}
