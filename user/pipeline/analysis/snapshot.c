/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/analysis/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "decode/record/code_event.h"
#include "pipeline/analysis/snapshot_code.h"
#include "pipeline/analysis/snapshot_state.h"
#include "state/code/code_publisher.h"
#include "state/process/process_code.h"

/* Higher than the ids of engines. */
#define NEW_IDS_FROM (1ull << 31)

/* The bits of a process number in an engine of shared memory: code_engine_of(). */
#define REPORTER_MASK 0x7fffffffu

/* A call site in no mapping: an unknown engine. */
#define NO_CALL_SITE 1

/* Returns a zeroed record in snapshot->room, or NULL (out of memory). */
void *snapshot_make(struct snapshot *snapshot, uint16_t type, size_t size_bytes)
{
	struct jitbpf_record *record;

	if (vec_reserve(&snapshot->room, size_bytes))
		return NULL;
	record = memset(snapshot->room.data, 0, size_bytes);
	record->size_bytes = (uint32_t)size_bytes;
	record->type = type;
	record->flags = JITBPF_RECORD_COUNTED;
	record->time_ns = snapshot->time_ns;
	return record;
}

int snapshot_put(struct snapshot *snapshot, const struct jitbpf_record *record)
{
	return snapshot->to.take(snapshot->to.context, record);
}

static int put_kernel_symbol(void *context, const struct space_entry *entry)
{
	const struct kernel_code *code = (const struct kernel_code *)entry->value;
	struct snapshot *snapshot = context;
	size_t name_bytes = strlen(code->name) + 1;
	struct jitbpf_kernel_symbol *record =
		snapshot_make(snapshot, JITBPF_KERNEL_SYMBOL, sizeof(*record) + name_bytes);

	if (!record)
		return -ENOMEM;
	record->address = code->address;
	record->size_bytes = (uint32_t)(entry->end - code->address);
	memcpy(record->name, code->name, name_bytes);
	return snapshot_put(snapshot, &record->h);
}

/* --- code ------------------------------------------------------------------------ */

static int find_module(void *snapshot_, const struct space_entry *entry)
{
	const struct mapping *mapping = (const struct mapping *)entry->value;
	struct snapshot *snapshot = snapshot_;

	if (mapping->engine != snapshot->engine_module)
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

int snapshot_put_event(void *snapshot_, const struct code_event *event)
{
	size_t size_bytes = code_event_record_bytes(event);
	struct snapshot *snapshot = snapshot_;
	struct jitbpf_code_event *record;

	if (!size_bytes)
		return 0; /* larger than an event can be: it was never accepted */
	record = snapshot_make(snapshot, JITBPF_CODE_EVENT, size_bytes);
	if (!record)
		return -ENOMEM;
	code_event_encode(event, record);
	record->h.flags |= JITBPF_RECORD_COUNTED;
	return snapshot_put(snapshot, &record->h);
}

static struct snapshot_code code_at(struct snapshot *snapshot, uint64_t address, bool orphaned)
{
	return (struct snapshot_code){
		.pid = snapshot->process->pid,
		.start_ns = snapshot->process->start_ns,
		.time_ns = snapshot->time_ns,
		.address = address,
		.engine = orphaned ? no_engine : engine_of,
		.new_ids = orphaned ? &snapshot->new_id : NULL,
		.take = snapshot_put_event,
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

static int compare_numbers(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool is_alive(const struct process *process)
{
	return process && process->exit_ns == UINT64_MAX;
}

/*
 * Collect the numbers of all live processes, once. Needed only if there is code of other processes.
 */
static int note_reporters(struct snapshot *snapshot)
{
	if (snapshot->reporters.size)
		return 0;
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

/* Returns true if the process that reported a region of shared memory has exited. */
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
		if (note_reporters(snapshot))
			return -ENOMEM;
		orphaned = is_orphan(snapshot, region);
		if (!orphaned)
			return 0;
	}
	code = code_at(snapshot, address, orphaned);
	return snapshot_code_region(&code, region);
}

/*
 * A method is put only with the process that reported it: without that process, its parent cannot
 * come any more.
 */
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

static int put_code(struct snapshot *snapshot)
{
	const struct process *process = snapshot->process;
	int err = code_map_for_each(process->code, put_private, snapshot);

	err = err ?: code_map_for_each_waiting(process->code, put_waiting, snapshot);
	err = err ?: code_map_for_each_registered(process->code, put_registered, snapshot);
	return err ?: space_map_for_each(process->mappings, put_shared_code, snapshot);
}

static int put_process(struct snapshot *snapshot, bool again)
{
	const struct process *process = snapshot->process;
	int err = snapshot_put_identity(snapshot, again);

	snapshot->engine_module = MAPPING_ANON;
	if (!err && process->mappings)
		err = snapshot_put_mappings(snapshot);
	err = err ?: snapshot_put_runtimes(snapshot);
	err = err ?: snapshot_put_sequences(snapshot);
	err = err ?: snapshot_put_threads(snapshot);
	return err || !process->mappings ? err : put_code(snapshot);
}

/* Put the throttlings that last. The ledger of the previous epoch counts their time up to now. */
static int put_throttles(struct snapshot *snapshot)
{
	vec_for_each (since, &snapshot->analysis->throttled_since) {
		struct jitbpf_throttle *record;
		int err;

		if (!*since)
			continue;
		record = snapshot_make(snapshot, JITBPF_THROTTLE, sizeof(*record));
		if (!record)
			return -ENOMEM;
		record->cpu = (uint32_t)(since - snapshot->analysis->throttled_since.data);
		err = snapshot_put(snapshot, &record->h);
		if (err)
			return err;
	}
	return 0;
}

static void end_snapshot(struct snapshot *snapshot)
{
	vec_deinit(&snapshot->room);
	vec_deinit(&snapshot->reporters);
	vec_deinit(&snapshot->orphaned);
}

/* With only_sampled, the recording gets processes and cgroups when they begin in it. */
int analysis_snapshot(const struct analysis *a, struct record_receiver to)
{
	struct snapshot snapshot = {
		.analysis = a, .to = to, .time_ns = a->round_ns, .new_id = NEW_IDS_FROM};
	int err = space_map_for_each(a->kernel_code, put_kernel_symbol, &snapshot);

	err = err ?: put_throttles(&snapshot);
	vec_for_each (cgroup, &a->cgroups.cgroups) {
		if (!err && !a->only_sampled)
			err = snapshot_put_cgroup(&snapshot, cgroup);
	}
	vec_for_each (process, &a->processes.processes) {
		snapshot.process = *process;
		if (!err && !a->only_sampled && is_alive(*process))
			err = put_process(&snapshot, false);
	}
	end_snapshot(&snapshot);
	return err;
}

int analysis_snapshot_process(struct analysis *a, const struct process *process, uint64_t time_ns,
			      bool again, struct record_receiver to)
{
	struct snapshot snapshot = {
		.analysis = a,
		.process = process,
		.to = to,
		.time_ns = time_ns,
		.new_id = NEW_IDS_FROM + a->snapshot_ids,
	};
	int err = put_process(&snapshot, again);

	a->snapshot_ids = snapshot.new_id - NEW_IDS_FROM;
	end_snapshot(&snapshot);
	return err;
}

int analysis_snapshot_cgroup(const struct analysis *a, const struct known_cgroup *cgroup,
			     uint64_t time_ns, struct record_receiver to)
{
	struct snapshot snapshot = {.analysis = a, .to = to, .time_ns = time_ns};
	int err = snapshot_put_cgroup(&snapshot, cgroup);

	end_snapshot(&snapshot);
	return err;
}
