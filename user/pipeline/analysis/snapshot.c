/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/analysis/snapshot.h"

#include <errno.h>
#include <linux/mman.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "decode/record/code_event.h"
#include "pipeline/analysis/analysis_state.h"
#include "pipeline/analysis/snapshot_code.h"
#include "state/code/code_publisher.h"
#include "state/process/process_code.h"

struct snapshot {
	const struct analysis *analysis;
	const struct process *process; /* the current process */
	int (*take)(void *context, const struct jitbpf_record *record);
	void *context;
	VEC(uint8_t) room; /* for the current record */

	/* The current mapping, and the engine of its code. */
	struct space_entry entry;
	uint32_t engine_module; /* module of the last look-up */
	uint64_t engine_address;
	uint64_t new_id;	 /* next id for methods of freed processes */
	VEC(uint32_t) reporters; /* processes in the snapshot, ascending */
	VEC(const struct shared_code *)
	orphaned; /* objects whose code of freed processes was written */
};

/* Higher than the ids of engines. */
#define NEW_IDS_FROM (1ull << 31)

/* The bits of a process number in an engine of shared memory: code_engine_of(). */
#define REPORTER_MASK 0x7fffffffu

/* A call site in no mapping: an unknown engine. */
#define NO_CALL_SITE 1

/* Returns a zeroed record in snapshot->room, or NULL (out of memory). */
static void *make(struct snapshot *snapshot, uint16_t type, size_t size_bytes)
{
	struct jitbpf_record *record;

	if (vec_reserve(&snapshot->room, size_bytes))
		return NULL;
	record = memset(snapshot->room.data, 0, size_bytes);
	record->size_bytes = (uint32_t)size_bytes;
	record->type = type;
	record->flags = JITBPF_RECORD_COUNTED;
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

static int put_owner(struct snapshot *snapshot)
{
	const struct process *process = snapshot->process;
	struct jitbpf_owner *record;

	if (process->owner.uid == JITBPF_UNKNOWN_USER)
		return 0;
	record = make(snapshot, JITBPF_OWNER, sizeof(*record));
	if (!record)
		return -ENOMEM;
	record->pid = process->pid;
	record->start_ns = process->start_ns;
	record->uid = process->owner.uid;
	record->charged_uid = process->owner.charged_uid;
	record->fs_uid = process->owner.fs_uid;
	record->cgroup = process->owner.cgroup;
	return put(snapshot, &record->h);
}

static int put_cgroup(struct snapshot *snapshot, const struct known_cgroup *cgroup)
{
	size_t path_bytes = strlen(cgroup->path) + 1, name_bytes = strlen(cgroup->name) + 1;
	struct jitbpf_cgroup *record =
		make(snapshot, JITBPF_CGROUP, sizeof(*record) + path_bytes + name_bytes);

	if (!record)
		return -ENOMEM;
	record->cgroup = cgroup->cgroup;
	memcpy(record->strings, cgroup->path, path_bytes);
	memcpy(record->strings + path_bytes, cgroup->name, name_bytes);
	return put(snapshot, &record->h);
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
		make(snapshot, JITBPF_MAPPING, sizeof(*record) + path_bytes);

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
	return put(snapshot, &record->h);
}

/* --- code ------------------------------------------------------------------------ */

static int find_module(void *snapshot_, const struct space_entry *entry)
{
	const struct mapping *mapping = (const struct mapping *)entry->value;
	struct snapshot *snapshot = snapshot_;

	if (mapping->module != snapshot->engine_module)
		return 0;
	snapshot->engine_address = entry->start;
	return 1;
}

/* Returns a call site in the engine's DSO for the shim, else the number of the file. */
static uint64_t engine_of(void *snapshot_, const struct code_origin *origin)
{
	uint32_t number = (uint32_t)origin->engine;
	struct snapshot *snapshot = snapshot_;

	if (origin->publisher != JITBPF_PUBLISHER_SHIM)
		return number;
	if (!(origin->engine & CODE_ENGINE_KNOWN))
		return origin->engine;
	if (number != snapshot->engine_module) {
		snapshot->engine_module = number;
		snapshot->engine_address = NO_CALL_SITE;
		space_map_for_each(snapshot->process->mappings, find_module, snapshot);
	}
	return snapshot->engine_address;
}

static uint64_t no_engine(void *snapshot, const struct code_origin *origin)
{
	return origin->publisher == JITBPF_PUBLISHER_SHIM ? NO_CALL_SITE : (uint32_t)origin->engine;
}

static int put_event(void *snapshot_, const struct code_event *event)
{
	size_t size_bytes = code_event_record_bytes(event);
	struct snapshot *snapshot = snapshot_;
	struct jitbpf_code_event *record;

	if (!size_bytes)
		return 0; /* larger than an event can be: it was never accepted */
	record = make(snapshot, JITBPF_CODE_EVENT, size_bytes);
	if (!record)
		return -ENOMEM;
	code_event_encode(event, record);
	record->h.flags |= JITBPF_RECORD_COUNTED;
	return put(snapshot, &record->h);
}

static struct snapshot_code code_at(struct snapshot *snapshot, uint64_t address, bool orphaned)
{
	return (struct snapshot_code){
		.pid = snapshot->process->pid,
		.start_ns = snapshot->process->start_ns,
		.time_ns = snapshot->analysis->round_ns,
		.address = address,
		.engine = orphaned ? no_engine : engine_of,
		.new_ids = orphaned ? &snapshot->new_id : NULL,
		.take = put_event,
		.context = snapshot,
	};
}

static int put_private(void *snapshot, const struct code_region *region)
{
	struct snapshot_code code = code_at(snapshot, region->address, false);

	return snapshot_code_region(&code, region);
}

static int put_waiting(void *snapshot, const struct code_inline *inlined)
{
	struct snapshot_code code = code_at(snapshot, inlined->address, false);

	return snapshot_code_waiting(&code, inlined);
}

static int put_registered(void *snapshot, const struct code_region *method)
{
	struct snapshot_code code = code_at(snapshot, 0, false);

	return snapshot_code_registered(&code, method);
}

static bool reports(const struct process *process, const struct code_origin *origin)
{
	return code_engine_same_process(origin->engine, code_engine_of(process->number, 0));
}

/* Returns true if the process that reported a region of shared memory was freed. */
static bool is_orphan(const struct snapshot *snapshot, const struct code_region *region)
{
	uint32_t reporter = (uint32_t)(region->claims[0].origin.engine >> 32) & REPORTER_MASK;
	size_t at = partition_point((size_t)0, snapshot->reporters.size, i,
				    snapshot->reporters.data[i] < reporter);

	return at == snapshot->reporters.size || snapshot->reporters.data[at] != reporter;
}

/* Set *ret to where the current mapping maps an address of its object. Returns false if not. */
static bool address_in_mapping(const struct snapshot *snapshot, uint64_t address, uint64_t *ret)
{
	const struct space_entry *entry = &snapshot->entry;
	const struct mapping *mapping = (const struct mapping *)entry->value;
	uint64_t first =
		shared_code_address(mapping->file_offset + (entry->start - mapping->address));

	if (address < first || address - first >= entry->end - entry->start)
		return false;
	*ret = entry->start + (address - first);
	return true;
}

static int put_shared(void *snapshot_, const struct code_region *region)
{
	struct snapshot *snapshot = snapshot_;
	const struct mapping *mapping = (const struct mapping *)snapshot->entry.value;
	struct snapshot_code code;
	bool orphaned = false;
	uint64_t address;

	if (!address_in_mapping(snapshot, region->address, &address))
		return 0;
	if (!reports(snapshot->process, &region->claims[0].origin)) {
		vec_for_each (done, &snapshot->orphaned) {
			if (*done == mapping->shared)
				return 0;
		}
		orphaned = is_orphan(snapshot, region);
		if (!orphaned)
			return 0;
	}
	code = code_at(snapshot, address, orphaned);
	return snapshot_code_region(&code, region);
}

/* A method whose process was freed gets no parent any more. */
static int put_shared_waiting(void *snapshot_, const struct code_inline *inlined)
{
	struct snapshot *snapshot = snapshot_;
	struct snapshot_code code;
	uint64_t address;

	if (!address_in_mapping(snapshot, inlined->address, &address) ||
	    !reports(snapshot->process, &inlined->origin))
		return 0;
	code = code_at(snapshot, address, false);
	return snapshot_code_waiting(&code, inlined);
}

static int put_shared_code(void *snapshot_, const struct space_entry *entry)
{
	const struct mapping *mapping = (const struct mapping *)entry->value;
	struct snapshot *snapshot = snapshot_;
	int err;

	if (!mapping->shared || !mapping->shared->code)
		return 0;
	snapshot->entry = *entry;
	err = code_map_for_each(mapping->shared->code, put_shared, snapshot);
	err = err ?: code_map_for_each_waiting(mapping->shared->code, put_shared_waiting, snapshot);
	return err ?: vec_push(&snapshot->orphaned, mapping->shared);
}

/* Mark lower numbers as received: missing ones are counted in the ledgers of earlier epochs. */
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
	record = make(snapshot, JITBPF_JOURNAL, sizeof(*record));
	if (!record)
		return -ENOMEM;
	record->h.flags |= JITBPF_JOURNAL_LATE;
	record->pid = process->pid;
	record->publisher = origin->publisher;
	record->start_ns = process->start_ns;
	record->from_ns = record->to_ns = snapshot->analysis->round_ns;
	record->first_sequence = record->next_sequence = next;
	record->left_out = origin->left_out;
	return put(snapshot, &record->h);
}

/* The counts of the process's program by publishers that keep journals. */
static int put_next_sequences(struct snapshot *snapshot)
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
		.time_ns = snapshot->analysis->round_ns,
		.reported_ns = snapshot->analysis->round_ns,
		.since_ns = snapshot->analysis->round_ns,
		.kind = JITBPF_CODE_THREAD,
		.flags = JITBPF_EVENT_RECOVERED | JITBPF_EVENT_BEFORE_RUN,
		.method_id = name->tid,
		.size_bytes = name->until_ns == UINT64_MAX
				      ? 0
				      : name->until_ns - snapshot->analysis->round_ns,
		.name = {.bytes = name->text, .size_bytes = strlen(name->text)},
	};

	return put_event(snapshot, &event);
}

static int put_threads(struct snapshot *snapshot)
{
	int err = 0;

	vec_for_each (name, &snapshot->process->threads.names) {
		if (name->until_ns > snapshot->analysis->round_ns)
			err = err ?: put_thread(snapshot, name);
	}
	return err;
}

static int put_code(struct snapshot *snapshot)
{
	const struct process *process = snapshot->process;
	int err = put_next_sequences(snapshot);

	err = err ?: put_threads(snapshot);
	err = err ?: code_map_for_each(process->code, put_private, snapshot);
	err = err ?: code_map_for_each_waiting(process->code, put_waiting, snapshot);
	err = err ?: code_map_for_each_registered(process->code, put_registered, snapshot);
	return err ?: space_map_for_each(process->mappings, put_shared_code, snapshot);
}

static int put_process(struct snapshot *snapshot)
{
	const struct process *process = snapshot->process;
	int err = put_comm(snapshot);

	snapshot->engine_module = MAPPING_ANON;
	err = err ?: put_inner_pid(snapshot);
	err = err ?: put_owner(snapshot);
	if (err || !process->mappings)
		return err;
	err = space_map_for_each(process->mappings, put_mapping, snapshot);
	return err ?: put_code(snapshot);
}

static int compare_numbers(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool is_alive(const struct process *process)
{
	return process && process->exit_ns == UINT64_MAX;
}

static int note_reporters(struct snapshot *snapshot)
{
	vec_for_each (process, &snapshot->analysis->processes.processes) {
		if (is_alive(*process) &&
		    vec_push(&snapshot->reporters, (*process)->number & REPORTER_MASK))
			return -ENOMEM;
	}
	if (snapshot->reporters.size)
		qsort(snapshot->reporters.data, snapshot->reporters.size,
		      sizeof(*snapshot->reporters.data), compare_numbers);
	return 0;
}

/* The time before the snapshot is counted in the ledger of the previous epoch. */
static int put_throttles(struct snapshot *snapshot)
{
	vec_for_each (since, &snapshot->analysis->throttled_since) {
		struct jitbpf_throttle *record;
		int err;

		if (!*since)
			continue;
		record = make(snapshot, JITBPF_THROTTLE, sizeof(*record));
		if (!record)
			return -ENOMEM;
		record->cpu = (uint32_t)(since - snapshot->analysis->throttled_since.data);
		err = put(snapshot, &record->h);
		if (err)
			return err;
	}
	return 0;
}

int analysis_snapshot(const struct analysis *a,
		      int (*take)(void *context, const struct jitbpf_record *record), void *context)
{
	struct snapshot snapshot = {
		.analysis = a, .take = take, .context = context, .new_id = NEW_IDS_FROM};
	int err = note_reporters(&snapshot);

	err = err ?: space_map_for_each(a->kernel_code, put_kernel_symbol, &snapshot);
	err = err ?: put_throttles(&snapshot);
	vec_for_each (cgroup, &a->cgroups.cgroups)
		err = err ?: put_cgroup(&snapshot, cgroup);
	vec_for_each (process, &a->processes.processes) {
		snapshot.process = *process;
		if (!err && is_alive(*process))
			err = put_process(&snapshot);
	}
	vec_deinit(&snapshot.room);
	vec_deinit(&snapshot.reporters);
	vec_deinit(&snapshot.orphaned);
	return err;
}
