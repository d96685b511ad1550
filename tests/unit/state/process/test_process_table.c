/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "base/scope.h"
#include "state/process/process_table.h"
#include "tests/unit/cases.h"
#include "tests/unit/state/apply_jit.h"
#include "tests/unit/state/made_mapping.h"

#define SECOND 1000000000ull

struct fixture {
	struct process_table table;
	struct module_table modules;
	struct string_pool *strings;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f || string_pool_create(&f->strings))
		return -1;
	process_table_init(&f->table, f->strings, &f->modules, &code_budget_default, NULL);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	process_table_deinit(&f->table);
	module_table_deinit(&f->modules);
	string_pool_destroy(f->strings);
	free(f);
	return 0;
}

static struct process *at(struct fixture *f, uint32_t pid, uint64_t start_ns, uint64_t time_ns)
{
	struct process *process = NULL;

	assert_int_equal(process_table_at(&f->table, pid, start_ns, time_ns, &process), 0);
	assert_non_null(process);
	return process;
}

static void map(struct fixture *f, uint32_t pid, uint64_t address, const char *path, uint64_t inode,
		uint64_t time_ns)
{
	struct made_mapping made;

	made_mapping(&made, path, inode, "");
	made.mapping.h.time_ns = time_ns;
	made.mapping.pid = made.mapping.tid = pid;
	made.mapping.address = address;
	made.mapping.file_offset = 0x4000;
	assert_int_equal(process_table_map(&f->table, &made.mapping), 0);
}

/* The file of a mapping is identified after the mapping was reported. */
static void identify(struct fixture *f, uint32_t pid, uint64_t address, const char *path,
		     uint64_t inode, uint64_t time_ns)
{
	struct made_mapping made;

	made_mapping(&made, path, inode, "");
	made.mapping.h.time_ns = time_ns;
	made.mapping.h.flags = JITBPF_MAPPING_SAME;
	made.mapping.pid = made.mapping.tid = pid;
	made.mapping.address = address;
	made.mapping.file_offset = 0x4000;
	made.mapping.inode_generation = 9;
	assert_int_equal(process_table_map(&f->table, &made.mapping), 0);
}

static const struct mapping *mapping_at(const struct process *process, uint64_t address,
					uint64_t time_ns)
{
	struct space_entry entry;

	if (!space_map_find(process->mappings, address, time_ns, &entry))
		return NULL;
	return (const struct mapping *)entry.value;
}

static void comm(struct fixture *f, uint32_t pid, uint32_t tid, const char *name, uint16_t flags,
		 uint64_t time_ns)
{
	struct jitbpf_comm record = {
		.h = {.type = JITBPF_COMM, .flags = flags, .time_ns = time_ns},
		.pid = pid,
		.tid = tid,
	};

	strncpy(record.comm, name, sizeof(record.comm) - 1);
	assert_int_equal(process_table_comm(&f->table, &record), 0);
}

static struct jitbpf_task task(uint32_t pid, uint32_t tid, uint32_t parent_pid, uint64_t time_ns)
{
	return (struct jitbpf_task){.h = {.time_ns = time_ns},
				    .pid = pid,
				    .tid = tid,
				    .parent_pid = parent_pid,
				    .parent_tid = parent_pid};
}

static void fork_(struct fixture *f, uint32_t pid, uint32_t parent_pid, uint64_t time_ns)
{
	struct jitbpf_task record = task(pid, pid, parent_pid, time_ns);

	assert_int_equal(process_table_fork(&f->table, &record), 0);
}

static void exit_(struct fixture *f, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct jitbpf_task record = task(pid, tid, 0, time_ns);

	assert_int_equal(process_table_exit(&f->table, &record), 0);
}

static void load(struct process *process, uint32_t id, uint64_t address, uint64_t time_ns)
{
	struct jit_event event = {.header = {.event = JIT_EVENT_LOAD,
					     .method_id = id,
					     .address = address,
					     .code_bytes = 16}};

	assert_int_equal(
		apply_jit(process->code, process->account, &event, event.header.caller, time_ns),
		0);
}

static const char *name_of(struct fixture *f, const struct process *process)
{
	return string_pool_get(f->strings, process->comm);
}

CASE_WITH(test_start_tells_apart, set_up, tear_down)
{
	struct fixture *f = *state;
	struct process *a = at(f, 5, 1000, 10), *b;

	assert_ptr_equal(at(f, 5, 1000, 20), a);
	assert_ptr_equal(at(f, 5, 0, 20), a);
	b = at(f, 5, 2000, 30);
	assert_ptr_not_equal(a, b);
	assert_ptr_equal(b->previous, a);
	/* The exit of the first process was not seen, but its pid has been reused. */
	assert_int_equal(a->exit_ns, 30);
	assert_true(b->exit_ns == UINT64_MAX);
	/*
	 * Records without a start time find the process of their time; those
	 * with one find their own.
	 */
	assert_ptr_equal(at(f, 5, 0, 31), b);
	assert_ptr_equal(at(f, 5, 0, 29), a);
	assert_ptr_equal(at(f, 5, 1000, 40), a);
	assert_int_equal(f->table.processes.size, 2);
	assert_ptr_not_equal(at(f, 6, 1000, 10), a);
}

CASE_WITH(test_start_is_learned, set_up, tear_down)
{
	struct fixture *f = *state;
	struct process *a = at(f, 5, 0, 10);

	assert_ptr_equal(at(f, 5, 1000, 20), a);
	assert_int_equal(a->start_ns, 1000);
	assert_ptr_not_equal(at(f, 5, 1001, 30), a);
}

/* The inner pid belongs to one process, not to others with the same pid, nor to its parent. */
CASE_WITH(test_inner_pid, set_up, tear_down)
{
	struct fixture *f = *state;
	struct jitbpf_inner_pid record = {
		.h.time_ns = 2 * SECOND, .pid = 7, .inner_pid = 1, .start_ns = 2 * SECOND};
	struct process *first = at(f, 7, SECOND, SECOND), *second, *child;

	exit_(f, 7, 7, SECOND + 1);
	assert_int_equal(process_table_inner_pid(&f->table, &record), 0);
	second = at(f, 7, 2 * SECOND, 2 * SECOND);
	fork_(f, 8, 7, 3 * SECOND);
	child = at(f, 8, 0, 3 * SECOND);
	assert_int_equal(first->inner_pid, 0);
	assert_int_equal(second->inner_pid, 1);
	assert_int_equal(child->inner_pid, 0);
}

CASE_WITH(test_known_start_wins, set_up, tear_down)
{
	struct fixture *f = *state;
	struct process *known = at(f, 5, 1000, 10), *fresh;

	fork_(f, 5, 1, 20);
	fresh = at(f, 5, 0, 20);
	assert_ptr_not_equal(fresh, known);
	assert_ptr_equal(at(f, 5, 1000, 21), known);
	assert_ptr_equal(at(f, 5, 2000, 22), fresh);
	assert_int_equal(fresh->start_ns, 2000);
}

/* A record of an unknown process that has exited does not create the latest process of the pid. */
CASE_WITH(test_older_stranger, set_up, tear_down)
{
	struct fixture *f = *state;
	struct process *now = at(f, 5, 3000, 100), *old, *older;

	old = at(f, 5, 2000, 90);
	assert_int_equal(old->exit_ns, 100);
	older = at(f, 5, 1000, 80);
	assert_ptr_equal(now->previous, old);
	assert_ptr_equal(old->previous, older);
	assert_null(older->previous);
	assert_ptr_equal(at(f, 5, 0, 110), now);
	assert_true(now->exit_ns == UINT64_MAX);
}

CASE_WITH(test_exit_and_grace, set_up, tear_down)
{
	struct fixture *f = *state;
	struct process *a = at(f, 5, 0, 10), *b;

	exit_(f, 5, 6, 15);
	assert_true(a->exit_ns == UINT64_MAX);
	exit_(f, 5, 5, 20);
	assert_int_equal(a->exit_ns, 20);
	exit_(f, 5, 5, 25);
	assert_int_equal(a->exit_ns, 20);
	assert_ptr_equal(at(f, 5, 0, 20 + PROCESS_GRACE_NS), a);
	b = at(f, 5, 0, 21 + PROCESS_GRACE_NS);
	assert_ptr_not_equal(a, b);
	/* An EXIT does not create a process. */
	exit_(f, 77, 77, 30);
	assert_int_equal(f->table.processes.size, 2);
}

CASE_WITH(test_fork_inherits, set_up, tear_down)
{
	struct fixture *f = *state;
	struct process *parent = at(f, 5, 0, 10), *child;

	comm(f, 5, 5, "parent", 0, 10);
	map(f, 5, 0x1000, "/bin/p", 7, 10);
	load(parent, 1, 0x9000, 10);
	fork_(f, 6, 5, 20);
	child = at(f, 6, 0, 20);
	assert_int_equal(child->from_ns, 20);
	assert_string_equal(name_of(f, child), "parent");
	assert_non_null(mapping_at(child, 0x1000, 20));
	assert_non_null(code_map_find(child->code, 0x9000, 20));
	assert_int_equal(parent->account->counts.loads, 1);
	assert_int_equal(child->account->counts.loads, 0);
	/* After the fork, the processes differ. */
	load(parent, 2, 0x9000, 30);
	load(child, 2, 0xa000, 30);
	assert_int_equal(code_map_find(child->code, 0x9000, 30)->claims->method_id, 1);
	assert_null(code_map_find(parent->code, 0xa000, 30));
	/* A thread is no process. */
	fork_(f, 5, 5, 40);
	assert_ptr_equal(at(f, 5, 0, 40), parent);
	assert_int_equal(f->table.processes.size, 2);
}

CASE_WITH(test_fork_of_a_used_pid, set_up, tear_down)
{
	struct fixture *f = *state;
	struct process *old = at(f, 6, 0, 10), *child;

	map(f, 6, 0x1000, "/bin/old", 8, 10);
	fork_(f, 6, 5, 20);
	child = at(f, 6, 0, 20);
	assert_ptr_not_equal(old, child);
	assert_int_equal(old->exit_ns, 20);
	assert_null(mapping_at(child, 0x1000, 20));
	assert_ptr_equal(at(f, 6, 0, 19), old);
	assert_non_null(mapping_at(old, 0x1000, 19));
	/* The FORK arrives after the child was seen: it is not another child. */
	child = at(f, 9, 0, 50);
	fork_(f, 9, 5, 45);
	assert_ptr_equal(at(f, 9, 0, 50), child);
	assert_int_equal(child->from_ns, 45);
}

CASE_WITH(test_exec_begins_anew, set_up, tear_down)
{
	struct fixture *f = *state;
	struct process *process = at(f, 5, 0, 10);

	comm(f, 5, 5, "before", 0, 10);
	comm(f, 5, 8, "a thread's", 0, 11);
	assert_string_equal(name_of(f, process), "before");
	map(f, 5, 0x1000, "/bin/before", 7, 10);
	load(process, 1, 0x9000, 10);
	assert_int_equal(process->program_ns, 0);
	comm(f, 5, 5, "after", JITBPF_COMM_EXEC, 20);
	map(f, 5, 0x1000, "/bin/after", 8, 21);
	assert_string_equal(name_of(f, process), "after");
	assert_int_equal(process->program_ns, 20);
	assert_null(mapping_at(process, 0x1000, 20));
	assert_non_null(mapping_at(process, 0x1000, 19));
	assert_string_equal(
		module_table_get(&f->modules, mapping_at(process, 0x1000, 21)->module)->path,
		"/bin/after");
	assert_null(code_map_find(process->code, 0x9000, 20));
	assert_non_null(code_map_find(process->code, 0x9000, 19));
}

static void assert_name_at(struct fixture *f, const struct process *process, uint64_t time_ns,
			   const char *name)
{
	assert_string_equal(string_pool_get(f->strings, process_comm_at(process, time_ns)), name);
}

CASE_WITH(test_what_it_was_called, set_up, tear_down)
{
	struct fixture *f = *state;
	struct process *process = at(f, 5, 0, 10), *child;

	comm(f, 5, 5, "sh", 0, 10);
	comm(f, 5, 5, "env", JITBPF_COMM_EXEC, 20);
	comm(f, 5, 5, "python", JITBPF_COMM_EXEC, 30);
	comm(f, 5, 5, "late", 0, 25); /* becomes the name from now on nevertheless */
	fork_(f, 6, 5, 40);
	assert_name_at(f, process, 9, "");
	assert_name_at(f, process, 10, "sh");
	assert_name_at(f, process, 19, "sh");
	assert_name_at(f, process, 20, "env");
	assert_name_at(f, process, 29, "env");
	assert_name_at(f, process, 30, "late");
	assert_int_equal(process_program_at(process, 19), 0);
	assert_int_equal(process_program_at(process, 29), 20);
	assert_int_equal(process_program_at(process, 30), 30);
	child = at(f, 6, 0, 41);
	assert_name_at(f, child, 41, "late");
	assert_name_at(f, child, 5, "late"); /* the child did not exist yet */
	process_table_forget(&f->table, 20);
	assert_name_at(f, process, 19, "env");
	process_table_forget(&f->table, 30);
	assert_int_equal(process->past.changes.size, 0);
	assert_name_at(f, process, 9, "late");
}

CASE_WITH(test_called_many_names, set_up, tear_down)
{
	struct fixture *f = *state;
	struct process *process = at(f, 5, 0, 10);
	char name[12];

	for (uint32_t i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "name %u", i % 1000);
		comm(f, 5, 5, name, 0, 100 + i);
	}
	assert_int_equal(process->past.changes.size, PROCESS_PAST_MAX);
	assert_name_at(f, process, 1099, "name 999");
	assert_name_at(f, process, 1100 - PROCESS_PAST_MAX, "name 936");
	assert_name_at(f, process, 5, "name 935"); /* the oldest name that is kept */
}

/* A name of 16 bytes without a NUL does no harm. */
CASE_WITH(test_full_name, set_up, tear_down)
{
	struct fixture *f = *state;
	struct jitbpf_comm record = {.pid = 5, .tid = 5};

	memset(record.comm, 'n', sizeof(record.comm));
	assert_int_equal(process_table_comm(&f->table, &record), 0);
	assert_string_equal(name_of(f, at(f, 5, 0, 0)), "nnnnnnnnnnnnnnnn");
}

CASE_WITH(test_modules_of_mappings, set_up, tear_down)
{
	static const struct {
		const char *path;
		uint64_t inode;
		const char *build_id;
		bool has_module;
	} cases[] = {
		{"/usr/bin/php", 7, "", true},
		{"/usr/bin/php", 0, "id", true},
		{"[vdso]", 0, "", true},
		{"[vsyscall]", 0, "", true},
		{"/dev/shm/lib.so", 7, "", true},
		{"//anon", 0, "", false},
		{"", 0, "", false},
		{"[heap]", 0, "", false},
		{"[stack]", 0, "", false},
		{"/dev/zero (deleted)", 7, "", false},
		{"/dev/zero", 7, "", false},
		{"/SYSV00000000 (deleted)", 7, "", false},
		{"/memfd:doublemapper (deleted)", 7, "", false},
		{"/memfd:program (deleted)", 7, "id", true},
		{"anon_inode:[x]", 7, "", false},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct made_mapping made;
		const struct mapping *mapping;

		made_mapping(&made, cases[i].path, cases[i].inode, cases[i].build_id);
		made.mapping.h.time_ns = i + 1;
		made.mapping.file_offset = 0x3000;
		assert_int_equal(process_table_map(&f->table, &made.mapping), 0);
		mapping = mapping_at(at(f, 100, 0, i + 1), 0x1fff, i + 1);
		assert_non_null(mapping);
		assert_int_equal(mapping->address, 0x1000);
		assert_int_equal(mapping->file_offset, 0x3000);
		if (cases[i].has_module)
			assert_non_null(module_table_get(&f->modules, mapping->module));
		else
			assert_int_equal(mapping->module, MAPPING_ANON);
	}
}

static uint64_t told_engine(const struct process *process, uint64_t call_site, uint64_t time_ns)
{
	const struct code_event event = {
		.origin = {.publisher = JITBPF_PUBLISHER_SHIM, .engine = call_site},
		.reported_ns = time_ns,
	};

	return process_code_engine(process, &event);
}

/* An engine stays the same when its file is identified: its code can be updated and unloaded. */
CASE_WITH(test_engine_is_identified, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct process *process;
	uint64_t engine;

	map(f, 1, 0x400000, "/engine", 5, 10);
	process = at(f, 1, 0, 11);
	engine = told_engine(process, 0x400100, 20);
	assert_true(engine & CODE_ENGINE_KNOWN);
	identify(f, 1, 0x400000, "/engine", 5, 30);
	assert_int_not_equal(mapping_at(process, 0x400000, 10)->module,
			     mapping_at(process, 0x400000, 30)->module);
	assert_int_equal(told_engine(process, 0x400100, 40), engine);
	identify(f, 1, 0x400000, "/engine", 5, 50);
	assert_int_equal(told_engine(process, 0x400100, 60), engine);
	map(f, 1, 0x400000, "/other engine", 6, 70);
	assert_int_not_equal(told_engine(process, 0x400100, 80), engine);
}

CASE_WITH(test_forget_retires, set_up, tear_down)
{
	struct fixture *f = *state;
	struct process *gone = at(f, 5, 1000, 10), *lives = at(f, 6, 0, 10);

	map(f, 6, 0x1000, "/bin/a", 7, 10);
	map(f, 6, 0x1000, "/bin/b", 8, 20);
	exit_(f, 5, 5, SECOND);
	process_table_forget(&f->table, SECOND + PROCESS_GRACE_NS - 1);
	assert_non_null(gone->mappings);
	assert_non_null(gone->code);
	assert_null(mapping_at(lives, 0x1000, 15));
	process_table_forget(&f->table, SECOND + PROCESS_GRACE_NS);
	assert_null(gone->mappings);
	assert_null(gone->code);
	assert_non_null(mapping_at(lives, 0x1000, 20));
	process_table_forget(&f->table, 10 * SECOND);
	/* A record with a start time still finds the exited process, and does no harm. */
	assert_ptr_equal(at(f, 5, 1000, SECOND), gone);
	map(f, 5, 0x1000, "/bin/a", 7, SECOND - 1);
	comm(f, 5, 5, "late", JITBPF_COMM_EXEC, SECOND - 1);
	fork_(f, 7, 5, SECOND - 1);
	assert_non_null(at(f, 7, 0, SECOND)->mappings);
	assert_int_equal(f->table.active.size, 2);
}

/* A retired process is kept for a while, then offered to those who point at it, then freed. */
CASE_WITH(test_forget_frees, set_up, tear_down)
{
	struct fixture *f = *state;
	struct process *gone = at(f, 5, 1000, 10), *next;
	uint32_t slot = gone->slot, number = gone->number;

	exit_(f, 5, 5, SECOND);
	next = at(f, 5, 2000, 2 * SECOND);
	assert_ptr_equal(next->previous, gone);
	process_table_forget(&f->table, SECOND + PROCESS_KEEP_NS - 1);
	assert_int_equal(f->table.retired.size, 1);
	process_table_forget(&f->table, SECOND + PROCESS_KEEP_NS);
	assert_int_equal(f->table.retired.size, 0);
	assert_int_equal(f->table.leaving.size, 1);
	assert_ptr_equal(f->table.leaving.data[0], gone);
	assert_ptr_equal(at(f, 5, 1000, SECOND), gone);
	process_table_forget(&f->table, SECOND + PROCESS_KEEP_NS);
	assert_int_equal(f->table.leaving.size, 0);
	assert_null(f->table.processes.data[slot]);
	assert_null(next->previous);
	assert_ptr_equal(at(f, 5, 2000, 30 * SECOND), next);
	/* The slot is used again, the number is not. */
	gone = at(f, 6, 0, 30 * SECOND);
	assert_int_equal(gone->slot, slot);
	assert_true(gone->number > number);
	/* The latest of its pid is freed while an older one is not known to have ended. */
	exit_(f, 5, 5, 31 * SECOND);
	process_table_forget(&f->table, 60 * SECOND);
	process_table_forget(&f->table, 90 * SECOND);
	process_table_forget(&f->table, 90 * SECOND);
	assert_null(process_table_find(&f->table, 5, 2000, 31 * SECOND));
}

/* Pids that are reused many times. */
CASE_WITH(test_many_generations, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t time_ns = 1;

	for (size_t i = 0; i < 2000; i++) {
		uint32_t pid = 10 + i % 7;
		struct process *process;

		fork_(f, pid, 5, time_ns);
		process = at(f, pid, time_ns + 7, time_ns + 1);
		assert_int_equal(process->from_ns, time_ns);
		exit_(f, pid, pid, time_ns + 2);
		assert_ptr_equal(at(f, pid, 0, time_ns + 2), process);
		time_ns += SECOND;
		process_table_forget(&f->table, time_ns);
	}
	assert_int_equal(f->table.next_number, 2001);
	assert_in_range(f->table.processes.size, 20, 30); /* those of the last 20 s, and a few */
	assert_in_range(f->table.active.size, 1, 4);
}
