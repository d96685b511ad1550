/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records of a snapshot that describe a process and its threads, without its code. */
#include <errno.h>
#include <linux/mman.h>
#include <string.h>

#include "pipeline/analysis/snapshot_state.h"
#include "state/code/code_publisher.h"

static int put_comm(struct snapshot *snapshot, bool again)
{
	const struct process *process = snapshot->process;
	struct jitbpf_comm *record = snapshot_make(snapshot, JITBPF_COMM, sizeof(*record));

	if (!record)
		return -ENOMEM;
	if (again)
		record->h.flags |= JITBPF_COMM_EXEC;
	/* There was no memory for its maps. */
	if (!process->mappings && process->mappings_lost && process->exit_ns == UINT64_MAX)
		record->h.flags |= JITBPF_RECORD_REFUSED;
	record->pid = record->tid = process->pid;
	record->start_ns = process->start_ns;
	strncpy(record->comm, string_pool_get(snapshot->analysis->strings, process->comm),
		sizeof(record->comm) - 1);
	return snapshot_put(snapshot, &record->h);
}

static int put_inner_pid(struct snapshot *snapshot)
{
	const struct process *process = snapshot->process;
	struct jitbpf_inner_pid *record;

	if (!process->inner_pid)
		return 0;
	record = snapshot_make(snapshot, JITBPF_INNER_PID, sizeof(*record));
	if (!record)
		return -ENOMEM;
	record->pid = process->pid;
	record->inner_pid = process->inner_pid;
	record->start_ns = process->start_ns;
	return snapshot_put(snapshot, &record->h);
}

static int put_owner(struct snapshot *snapshot)
{
	const struct process *process = snapshot->process;
	struct jitbpf_owner *record;

	if (process->owner.uid == JITBPF_UNKNOWN_USER)
		return 0;
	record = snapshot_make(snapshot, JITBPF_OWNER, sizeof(*record));
	if (!record)
		return -ENOMEM;
	record->pid = process->pid;
	record->start_ns = process->start_ns;
	record->uid = process->owner.uid;
	record->charged_uid = process->owner.charged_uid;
	record->fs_uid = process->owner.fs_uid;
	record->cgroup = process->owner.cgroup;
	return snapshot_put(snapshot, &record->h);
}

int snapshot_put_cgroup(struct snapshot *snapshot, const struct known_cgroup *cgroup)
{
	size_t path_bytes = strlen(cgroup->path) + 1, name_bytes = strlen(cgroup->name) + 1;
	struct jitbpf_cgroup *record =
		snapshot_make(snapshot, JITBPF_CGROUP, sizeof(*record) + path_bytes + name_bytes);

	if (!record)
		return -ENOMEM;
	record->cgroup = cgroup->cgroup;
	memcpy(record->strings, cgroup->path, path_bytes);
	memcpy(record->strings + path_bytes, cgroup->name, name_bytes);
	return snapshot_put(snapshot, &record->h);
}

/* Shared memory is identified by its object; a file by its module. */
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
		snapshot_make(snapshot, JITBPF_MAPPING, sizeof(*record) + path_bytes);

	if (!record)
		return -ENOMEM;
	record->pid = record->tid = snapshot->process->pid;
	record->start_ns = snapshot->process->start_ns;
	record->address = entry->start;
	record->size_bytes = entry->end - entry->start;
	record->file_offset = mapping->file_offset + (entry->start - mapping->address);
	record->protection = PROT_READ | PROT_EXEC;
	if (mapping->read_only)
		record->h.flags |= JITBPF_MAPPING_READ_ONLY;
	fill_identity(record, mapping, module);
	memcpy(record->path, path, path_bytes);
	return snapshot_put(snapshot, &record->h);
}

/*
 * Put a record that marks lower sequence numbers as received: missing ones are counted by earlier
 * epochs.
 */
static int put_next_sequence(struct snapshot *snapshot, const struct origin_sequences *origin)
{
	const struct process *process = snapshot->process;
	struct jitbpf_journal *record;
	uint64_t next;

	next = sequence_set_end(&origin->come);
	if (origin->come.has_from && origin->come.from > next)
		next = origin->come.from;
	if (!next && !origin->come.has_from)
		next = JITBPF_JOURNAL_FROM_FIRST;
	record = snapshot_make(snapshot, JITBPF_JOURNAL, sizeof(*record));
	if (!record)
		return -ENOMEM;
	record->h.flags |= JITBPF_JOURNAL_LATE;
	record->pid = process->pid;
	record->publisher = origin->publisher;
	record->start_ns = process->start_ns;
	record->from_ns = record->to_ns = snapshot->time_ns;
	record->first_sequence = record->next_sequence = next;
	record->left_out = origin->left_out;
	return snapshot_put(snapshot, &record->h);
}

/* The counts of the process's program by publishers that keep journals. */
int snapshot_put_sequences(struct snapshot *snapshot)
{
	const struct process *process = snapshot->process;
	const struct analysis *a = snapshot->analysis;
	int err = 0;

	if (process->slot >= a->sequences.size)
		return 0;
	vec_for_each (origin, &a->sequences.data[process->slot].origins) {
		if (code_publisher_of(origin->publisher)->journaled &&
		    origin->program_ns == process->program_ns)
			err = err ?: put_next_sequence(snapshot, origin);
	}
	return err;
}

static int put_thread(struct snapshot *snapshot, const struct thread_name *name)
{
	const struct code_event event = {
		.origin = {.publisher = JITBPF_PUBLISHER_JVMTI, .sequence = name->sequence},
		.pid = snapshot->process->pid,
		.tid = name->awaits_comm ? name->tid : 0,
		.start_ns = snapshot->process->start_ns,
		.time_ns = snapshot->time_ns,
		.reported_ns = snapshot->time_ns,
		.since_ns = snapshot->time_ns,
		.kind = JITBPF_CODE_THREAD,
		.flags = JITBPF_EVENT_RECOVERED | (name->before_run ? JITBPF_EVENT_BEFORE_RUN : 0),
		.method_id = name->tid,
		.size_bytes = name->until_ns == UINT64_MAX ? 0 : name->until_ns - snapshot->time_ns,
		.name = {.bytes = name->text, .size_bytes = strlen(name->text)},
	};

	return snapshot_put_event(snapshot, &event);
}

int snapshot_put_threads(struct snapshot *snapshot)
{
	int err = 0;

	vec_for_each (name, &snapshot->process->threads.names) {
		if (name->until_ns > snapshot->time_ns)
			err = err ?: put_thread(snapshot, name);
	}
	return err;
}

int snapshot_put_identity(struct snapshot *snapshot, bool again)
{
	int err = put_comm(snapshot, again);

	err = err ?: put_inner_pid(snapshot);
	return err ?: put_owner(snapshot);
}

int snapshot_put_mappings(struct snapshot *snapshot)
{
	return space_map_for_each(snapshot->process->mappings, put_mapping, snapshot);
}
