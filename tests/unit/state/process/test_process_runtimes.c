/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the program of a process runs, from its mappings, over execs and forks. */
#include <stdint.h>

#include "state/process/process_table.h"
#include "tests/unit/cases.h"
#include "tests/unit/state/made_mapping.h"

#define PID	100
#define PYTHON	"/usr/bin/python3.11"
#define LIBRARY "/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0"
#define PHP	"/usr/lib/libphp8.2.so"
#define JVM	"/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so"

struct fixture {
	struct process_table table;
	struct module_table modules;
	struct string_pool *strings;
	uint64_t now_ns;
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

static const struct process *find(struct fixture *f, uint32_t pid)
{
	return process_table_find(&f->table, pid, 0, f->now_ns);
}

/* Map a file at an address. */
static void map_at(struct fixture *f, uint32_t pid, uint64_t address, const char *path,
		   uint64_t inode)
{
	struct made_mapping made;

	made_mapping(&made, path, inode, "");
	made.mapping.h.time_ns = ++f->now_ns;
	made.mapping.pid = made.mapping.tid = pid;
	made.mapping.address = address;
	assert_int_equal(process_table_map(&f->table, &made.mapping), 0);
}

static void map(struct fixture *f, uint32_t pid, const char *path, uint64_t inode)
{
	map_at(f, pid, (inode + 1) << 20, path, inode);
}

static void comm(struct fixture *f, uint32_t pid, const char *name, uint16_t flags)
{
	struct jitbpf_comm record = {
		.h = {.type = JITBPF_COMM, .flags = flags, .time_ns = ++f->now_ns},
		.pid = pid,
		.tid = pid,
	};

	strncpy(record.comm, name, sizeof(record.comm) - 1);
	assert_int_equal(process_table_comm(&f->table, &record), 0);
}

static void fork_at(struct fixture *f, uint32_t child, uint32_t parent, uint64_t time_ns)
{
	const struct jitbpf_task record = {
		.h = {.type = JITBPF_FORK, .time_ns = time_ns},
		.pid = child,
		.tid = child,
		.parent_pid = parent,
	};

	assert_int_equal(process_table_fork(&f->table, &record), 0);
}

/* Check the names and versions of all runtimes, as in "CPython 3.11, PHP 8.2". */
static void assert_runs(const struct process_runtimes *runtimes, const char *wanted)
{
	char text[256] = "";
	size_t at = 0;

	for (uint32_t i = 0; i < runtimes->count; i++) {
		struct engine_file file = engine_of_runtime_number(runtimes->runtimes[i].number);
		char version[ENGINE_VERSION_BYTES];

		engine_version_text(&file.version, version);
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s%s%s", i ? ", " : "",
				       engine_runtime_name(file.engine), *version ? " " : "",
				       version);
	}
	assert_string_equal(text, wanted);
}

static void assert_process_runs(struct fixture *f, uint32_t pid, const char *wanted)
{
	assert_runs(&find(f, pid)->runtimes, wanted);
}

static const char *file_of(struct fixture *f, uint32_t pid, uint32_t runtime)
{
	const struct process *process = find(f, pid);

	return module_table_get(&f->modules, process->runtimes.runtimes[runtime].module)->path;
}

/* A program, however it is called; its name changes nothing, and other files do not. */
CASE_WITH(test_program, set_up, tear_down)
{
	struct fixture *f = *state;

	comm(f, PID, "java", JITBPF_COMM_EXEC);
	assert_process_runs(f, PID, "");
	map(f, PID, PYTHON, 1);
	assert_process_runs(f, PID, "CPython 3.11");
	map(f, PID, "/usr/lib/x86_64-linux-gnu/libc.so.6", 2);
	comm(f, PID, "php", 0);
	assert_process_runs(f, PID, "CPython 3.11");
	assert_string_equal(file_of(f, PID, 0), PYTHON);
}

/* A program such as gdb loads a library minutes after its start; the library is the runtime. */
CASE_WITH(test_late_library, set_up, tear_down)
{
	struct fixture *f = *state;

	comm(f, PID, "gdb", JITBPF_COMM_EXEC);
	map(f, PID, "/usr/bin/gdb", 1);
	assert_process_runs(f, PID, "");
	map(f, PID, "/usr/bin/python3", 2);
	map(f, PID, LIBRARY, 3);
	assert_process_runs(f, PID, "CPython 3.11");
	assert_string_equal(file_of(f, PID, 0), LIBRARY);
}

/* In an order that does not depend on that of the mappings, which a snapshot does not keep. */
CASE_WITH(test_several, set_up, tear_down)
{
	struct fixture *f = *state;

	map(f, PID, "/usr/bin/uwsgi-core", 1);
	map(f, PID, LIBRARY, 2);
	map(f, PID, PHP, 3);
	map(f, PID, LIBRARY, 2);
	assert_process_runs(f, PID, "PHP 8.2, CPython 3.11");
	map(f, PID, JVM, 4);
	map(f, PID, "/usr/bin/node", 5);
	assert_process_runs(f, PID, "PHP 8.2, Node.js, Java 17, CPython 3.11");
	/* Without room; those that are known are still followed. */
	map(f, PID, "/usr/bin/ruby3.1", 6);
	map(f, PID, "/usr/bin/php8.4", 7);
	assert_process_runs(f, PID, "PHP 8.4, Node.js, Java 17, CPython 3.11");
}

CASE_WITH(test_fork_and_exec, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t before_ns;

	map(f, PID, PYTHON, 1);
	fork_at(f, PID + 1, PID, ++f->now_ns);
	assert_process_runs(f, PID + 1, "CPython 3.11");
	map(f, PID + 1, PHP, 2); /* of the child alone */
	assert_process_runs(f, PID, "CPython 3.11");
	before_ns = f->now_ns;
	comm(f, PID + 1, "node", JITBPF_COMM_EXEC);
	assert_process_runs(f, PID + 1, "");
	map(f, PID + 1, "/usr/bin/node", 3);
	assert_process_runs(f, PID + 1, "Node.js");
	/* Code of the program before is still unwound by its runtimes. */
	assert_runs(process_runtimes_at(find(f, PID + 1), before_ns), "PHP 8.2, CPython 3.11");
	assert_runs(process_runtimes_at(find(f, PID + 1), f->now_ns), "Node.js");
	assert_process_runs(f, PID, "CPython 3.11");
}

/* A record of the child comes before its fork. */
CASE_WITH(test_late_fork, set_up, tear_down)
{
	struct fixture *f = *state;

	map(f, PID, PYTHON, 1);
	f->now_ns += 100;
	comm(f, PID + 1, "worker", 0);
	assert_process_runs(f, PID + 1, "");
	fork_at(f, PID + 1, PID, f->now_ns - 50);
	assert_process_runs(f, PID + 1, "CPython 3.11");
}

/* Another process with the pid is another program. */
CASE_WITH(test_reused_pid, set_up, tear_down)
{
	struct fixture *f = *state;
	struct process *process;

	assert_int_equal(process_table_at(&f->table, PID, 7, 1, &process), 0);
	f->now_ns = 10;
	map(f, PID, JVM, 1);
	assert_runs(&process->runtimes, "Java 17");
	assert_int_equal(process_table_at(&f->table, PID, 8, 1000, &process), 0);
	assert_runs(&process->runtimes, "");
}

/*
 * A library that is replaced by an upgrade goes on to run; the kernel reports its path with a
 * suffix. A program that loads the new one has that.
 */
CASE_WITH(test_deleted_and_replaced, set_up, tear_down)
{
	struct fixture *f = *state;

	map(f, PID, LIBRARY " (deleted)", 1);
	assert_process_runs(f, PID, "CPython 3.11");
	map(f, PID, "/usr/lib/libpython3.12.so.1.0", 2);
	assert_process_runs(f, PID, "CPython 3.12");
}

/*
 * A program that has its runtime in a library has a name like one that has it in itself. It can be
 * reported again after the library.
 */
CASE_WITH(test_program_again, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct process *process;
	uint32_t library;

	map(f, PID, PYTHON, 1);
	map(f, PID, LIBRARY, 2);
	process = find(f, PID);
	assert_int_equal(process->runtimes.count, 1);
	library = process->runtimes.runtimes[0].module;
	map(f, PID, PYTHON, 3);
	assert_int_equal(process->runtimes.runtimes[0].module, library);
	map(f, PID, "/opt/lib/libpython3.11.so.1.0", 4);
	assert_int_not_equal(process->runtimes.runtimes[0].module, library);
}

/* The end of a mapping is not reported; what takes its place says nothing about the runtime. */
CASE_WITH(test_unmapped, set_up, tear_down)
{
	struct fixture *f = *state;

	map_at(f, PID, 1 << 20, LIBRARY, 1);
	map_at(f, PID, 1 << 20, "/usr/lib/libz.so.1", 2);
	assert_process_runs(f, PID, "CPython 3.11");
}

/* Files of anybody with such a name: they say something about the processes that map them only. */
CASE_WITH(test_hostile_names, set_up, tear_down)
{
	struct fixture *f = *state;

	map(f, PID, PHP, 1);
	map(f, PID + 1, "/tmp/libjvm.so", 2);
	map(f, PID + 1, "/tmp/\x1b[31mlibphp\n", 3);
	for (uint32_t i = 0; i < 10000; i++)
		map(f, PID + 1, "/tmp/php9.9", 4 + i);
	assert_process_runs(f, PID, "PHP 8.2");
	assert_process_runs(f, PID + 1, "PHP 9.9, Java");
	/* Code in a module of such a name is another module's, even with the same path. */
	map(f, PID + 2, PHP, 20000);
	assert_process_runs(f, PID + 2, "PHP 8.2");
	assert_int_not_equal(find(f, PID)->runtimes.runtimes[0].module,
			     find(f, PID + 2)->runtimes.runtimes[0].module);
}
