/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes that map objects and load code in them. */
#ifndef JITBPF_TESTS_UNIT_STATE_SHARED_FIXTURE_H
#define JITBPF_TESTS_UNIT_STATE_SHARED_FIXTURE_H

#include <linux/mman.h>
#include <stdlib.h>
#include <string.h>

#include "state/process/process_code.h"
#include "tests/unit/state/apply_jit.h"
#include "tests/unit/state/made_mapping.h"

#define ZERO   "/dev/zero (deleted)"
#define ENGINE (CODE_ENGINE_KNOWN | 3)

struct fixture {
	struct process_table table;
	struct module_table modules;
	struct string_pool *strings;
};

static inline struct fixture *fixture_create(const struct code_budget *budget)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(string_pool_create(&f->strings), 0);
	process_table_init(&f->table, f->strings, &f->modules, budget, NULL);
	return f;
}

static inline void fixture_destroy(struct fixture *f)
{
	process_table_deinit(&f->table);
	module_table_deinit(&f->modules);
	string_pool_destroy(f->strings);
	free(f);
}

static inline struct process *process_of(struct fixture *f, uint32_t pid)
{
	struct process *process = NULL;

	assert_int_equal(process_table_at(&f->table, pid, 0, UINT64_MAX - 1, &process), 0);
	return process;
}

#define CANNOT_WRITE 0x100u /* a flag of map_as() */

/* Map 0x1000 bytes of an object. flags: MAP_SHARED or MAP_PRIVATE, and CANNOT_WRITE. */
static inline void map_as(struct fixture *f, uint32_t pid, uint64_t address, uint64_t offset,
			  const char *path, uint32_t flags, uint32_t device, uint64_t inode,
			  uint64_t time_ns)
{
	struct made_mapping *made = malloc(sizeof(*made));

	assert_non_null(made);
	made_mapping(made, path, inode, "");
	made->mapping.h.time_ns = time_ns;
	made->mapping.h.flags = flags & CANNOT_WRITE ? JITBPF_MAPPING_READ_ONLY : 0;
	made->mapping.pid = made->mapping.tid = pid;
	made->mapping.address = address;
	made->mapping.file_offset = offset;
	made->mapping.map_flags = flags & ~CANNOT_WRITE;
	made->mapping.dev_minor = device;
	assert_int_equal(process_table_map(&f->table, &made->mapping), 0);
	free(made);
}

static inline void map_shared(struct fixture *f, uint32_t pid, uint64_t address, uint64_t offset,
			      uint64_t inode, uint64_t time_ns)
{
	map_as(f, pid, address, offset, ZERO, MAP_SHARED, 1, inode, time_ns);
}

static inline void send_event(struct fixture *f, uint32_t pid, struct jitbpf_jit_header header,
			      const char *name, uint64_t time_ns)
{
	struct jit_event jit = {.header = header, .name = {name, strlen(name)}};
	struct code_event event = code_event_of(&jit, ENGINE, time_ns);

	assert_int_equal(process_code_apply(process_of(f, pid), &event), 0);
}

static inline void load(struct fixture *f, uint32_t pid, uint32_t id, uint64_t address,
			const char *name, uint64_t time_ns)
{
	send_event(f, pid,
		   (struct jitbpf_jit_header){.event = JIT_EVENT_LOAD,
					      .sequence = time_ns,
					      .method_id = id,
					      .address = address,
					      .code_bytes = 16},
		   name, time_ns);
}

static inline void unload(struct fixture *f, uint32_t pid, uint32_t id, uint64_t time_ns)
{
	send_event(f, pid, (struct jitbpf_jit_header){.event = JIT_EVENT_UNLOAD, .method_id = id},
		   "", time_ns);
}

/* Returns the name of the code at an address of a process; "" if unknown. */
static inline const char *runs(struct fixture *f, uint32_t pid, uint64_t address, uint64_t time_ns)
{
	const struct process *process = process_of(f, pid);
	const struct code_region *region;
	struct code_place place;
	struct space_entry mapped;

	if (!space_map_find(process->mappings, address, time_ns, &mapped))
		mapped.value = NULL;
	region = process_code_find(process, (const struct mapping *)mapped.value, address, time_ns,
				   &place);
	return region ? region->name : "";
}

static inline void fork_to(struct fixture *f, uint32_t pid, uint32_t parent_pid, uint64_t time_ns)
{
	struct jitbpf_task record = {
		.h.time_ns = time_ns,
		.pid = pid,
		.tid = pid,
		.parent_pid = parent_pid,
	};

	assert_int_equal(process_table_fork(&f->table, &record), 0);
}

static inline void exit_of(struct fixture *f, uint32_t pid, uint64_t time_ns)
{
	struct jitbpf_task record = {.h.time_ns = time_ns, .pid = pid, .tid = pid};

	assert_int_equal(process_table_exit(&f->table, &record), 0);
}

static inline void exec_of(struct fixture *f, uint32_t pid, uint64_t time_ns)
{
	struct jitbpf_comm record = {
		.h = {.flags = JITBPF_COMM_EXEC, .time_ns = time_ns},
		.pid = pid,
		.tid = pid,
		.comm = "new",
	};

	assert_int_equal(process_table_comm(&f->table, &record), 0);
}

#endif
