/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/analysis/snapshot.h"

#include <errno.h>
#include <string.h>
#include <linux/mman.h>

#include "pipeline/analysis/analysis_state.h"

struct snapshot {
	const struct analysis *analysis;
	const struct process *process; /* the one at hand */
	int (*take)(void *context, const struct jitbpf_record *record);
	void *context;
	VEC(uint8_t) room; /* of the record at hand */
};

/* A zeroed record in snapshot->room. NULL: no memory. */
static void *make(struct snapshot *snapshot, uint16_t type, size_t size_bytes)
{
	struct jitbpf_record *record;

	if (vec_reserve(&snapshot->room, size_bytes))
		return NULL;
	record = memset(snapshot->room.data, 0, size_bytes);
	record->size_bytes = (uint32_t)size_bytes;
	record->type = type;
	record->time_ns = snapshot->analysis->round_ns;
	return record;
}

static int put(struct snapshot *snapshot, const struct jitbpf_record *record)
{
	return snapshot->take(snapshot->context, record);
}

static int put_kernel_symbol(void *context, const struct space_entry *entry)
{
	const struct kernel_code *code = (const struct kernel_code *)entry->value;
	struct snapshot *snapshot = context;
	size_t name_bytes = strlen(code->name) + 1;
	struct jitbpf_kernel_symbol *record =
		make(snapshot, JITBPF_KERNEL_SYMBOL, sizeof(*record) + name_bytes);

	if (!record)
		return -ENOMEM;
	record->address = code->address;
	record->size_bytes = (uint32_t)(entry->end - code->address);
	memcpy(record->name, code->name, name_bytes);
	return put(snapshot, &record->h);
}

static int put_comm(struct snapshot *snapshot)
{
	const struct process *process = snapshot->process;
	struct jitbpf_comm *record = make(snapshot, JITBPF_COMM, sizeof(*record));

	if (!record)
		return -ENOMEM;
	record->pid = record->tid = process->pid;
	record->start_ns = process->start_ns;
	strncpy(record->comm, string_pool_get(snapshot->analysis->strings, process->comm),
		sizeof(record->comm) - 1);
	return put(snapshot, &record->h);
}

static int put_inner_pid(struct snapshot *snapshot)
{
	const struct process *process = snapshot->process;
	struct jitbpf_inner_pid *record;

	if (!process->inner_pid)
		return 0;
	record = make(snapshot, JITBPF_INNER_PID, sizeof(*record));
	if (!record)
		return -ENOMEM;
	record->pid = process->pid;
	record->inner_pid = process->inner_pid;
	record->start_ns = process->start_ns;
	return put(snapshot, &record->h);
}

/* Shared memory has an object, by which processes share code; a file is its module. */
static void fill_identity(struct jitbpf_mapping *record, const struct mapping *mapping,
			  const struct module *module)
{
	if (module) {
		record->dev_major = module->dev_major;
		record->dev_minor = module->dev_minor;
		record->inode = module->inode;
		record->inode_generation = module->inode_generation;
		record->build_id_bytes = module->build_id_bytes;
		memcpy(record->build_id, module->build_id, module->build_id_bytes);
	}
	record->map_flags = mapping->shared ? MAP_SHARED : MAP_PRIVATE;
	if (!mapping->shared)
		return;
	record->dev_major = mapping->shared->dev_major;
	record->dev_minor = mapping->shared->dev_minor;
	record->inode = mapping->shared->inode;
	record->inode_generation = mapping->shared->inode_generation;
}

static int put_mapping(void *context, const struct space_entry *entry)
{
	const struct mapping *mapping = (const struct mapping *)entry->value;
	struct snapshot *snapshot = context;
	const struct module *module =
		mapping->module == MAPPING_ANON
			? NULL
			: module_table_get(&snapshot->analysis->modules, mapping->module);
	const char *path = module ? module->path : "//anon";
	size_t path_bytes = strlen(path) + 1;
	struct jitbpf_mapping *record =
		make(snapshot, JITBPF_MAPPING, sizeof(*record) + path_bytes);

	if (!record)
		return -ENOMEM;
	record->pid = record->tid = snapshot->process->pid;
	record->start_ns = snapshot->process->start_ns;
	record->address = entry->start;
	record->size_bytes = entry->end - entry->start;
	record->file_offset = mapping->file_offset + (entry->start - mapping->address);
	record->protection = PROT_READ | PROT_EXEC;
	fill_identity(record, mapping, module);
	memcpy(record->path, path, path_bytes);
	return put(snapshot, &record->h);
}

static int put_process(struct snapshot *snapshot)
{
	const struct process *process = snapshot->process;
	int err = put_comm(snapshot);

	err = err ?: put_inner_pid(snapshot);
	if (!err && process->mappings)
		err = space_map_for_each(process->mappings, put_mapping, snapshot);
	return err;
}

int analysis_snapshot(const struct analysis *a,
		      int (*take)(void *context, const struct jitbpf_record *record), void *context)
{
	struct snapshot snapshot = {.analysis = a, .take = take, .context = context};
	int err = space_map_for_each(a->kernel_code, put_kernel_symbol, &snapshot);

	vec_for_each (process, &a->processes.processes) {
		snapshot.process = *process;
		if (!err && *process && (*process)->exit_ns == UINT64_MAX)
			err = put_process(&snapshot);
	}
	vec_deinit(&snapshot.room);
	return err;
}
