/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/process/process_code.h"

#include <string.h>

#include "state/code/code_publisher.h"
#include "state/code/code_region.h"

const struct mapping *process_mapping_told(const struct process *process, uint64_t address,
					   uint64_t reported_ns)
{
	struct space_entry mapped;

	if (!process->mappings)
		return NULL;
	if (space_map_find(process->mappings, address, reported_ns, &mapped) ||
	    (reported_ns >= process->program_ns &&
	     space_map_find(process->mappings, address, UINT64_MAX, &mapped)))
		return (const struct mapping *)mapped.value;
	return NULL;
}

uint64_t process_code_engine(const struct process *process, const struct code_event *event)
{
	uint64_t engine = event->origin.engine;
	const struct mapping *mapping;

	if (event->origin.publisher != JITBPF_PUBLISHER_SHIM)
		return CODE_ENGINE_KNOWN | (uint32_t)engine;
	mapping = process_mapping_told(process, engine, event->reported_ns);
	if (!mapping || mapping->engine == MAPPING_ANON)
		return engine & ~CODE_ENGINE_KNOWN;
	return CODE_ENGINE_KNOWN | mapping->engine;
}

/*
 * Returns the engine number for the code map of shared memory. All call sites in unknown DSOs are
 * one engine of the process.
 */
static uint64_t engine_in_shared(const struct process *process, uint64_t engine)
{
	return code_engine_of(process->number,
			      engine & CODE_ENGINE_KNOWN ? (uint32_t)engine : UINT32_MAX);
}

/* Returns true if the process may report code in an object. The process then has a reference. */
static bool may_report_in(struct process *process, struct shared_code *shared)
{
	for (uint32_t i = 0; i < process->reported_count; i++) {
		if (process->reported[i] == shared)
			return true;
	}
	if (process->reported_count == PROCESS_REPORTED_MAX)
		return false;
	space_value_get(&shared->value);
	process->reported[process->reported_count++] = shared;
	return true;
}

static int unload_method(struct process *process, const struct code_event *event)
{
	struct code_event there = *event;
	uint64_t id = event->method_id;
	bool found = false;
	int err = 0;

	there.origin.engine = engine_in_shared(process, event->origin.engine);
	for (uint32_t i = 0; i < process->reported_count && !err; i++) {
		struct shared_code *shared = process->reported[i];

		if (!shared->code ||
		    !code_map_has_method(shared->code, id, &there.origin, event->time_ns))
			continue;
		found = true;
		err = shared_code_apply(shared, process->account, &there);
	}
	if (err ||
	    (found && !code_map_has_method(process->code, id, &event->origin, event->time_ns)))
		return err;
	return code_map_apply(process->code, process->account, event);
}

/*
 * Returns true for an event that an ancestor reported before the fork, if code of another process
 * is in force in its range: that code is newer.
 */
static bool is_overtaken(const struct code_map *code, const struct code_event *event)
{
	uint64_t start = event->address;

	return code_publisher_of(event->origin.publisher)->journaled &&
	       event->origin.sequence == JITBPF_JIT_INHERITED && code &&
	       code_map_has_others(code, start, start + event->size_bytes, event->origin.engine);
}

/* Returns the shared object at an address if the process may report code in it, or NULL. */
static struct shared_code *shared_at(struct process *process, uint64_t address,
				     uint64_t reported_ns, uint64_t *ret_address)
{
	const struct mapping *mapping = process_mapping_told(process, address, reported_ns);

	if (!mapping || !mapping->shared || mapping->read_only ||
	    !may_report_in(process, mapping->shared))
		return NULL;
	*ret_address = mapping_code_place(mapping, address).address;
	return mapping->shared;
}

static int apply_to(struct process *process, struct shared_code *shared,
		    const struct code_event *event)
{
	return shared ? shared_code_apply(shared, process->account, event)
		      : code_map_apply(process->code, process->account, event);
}

/* Apply a move from one map to another: the region ends, and the new range has no known code. */
static int move_between(struct process *process, struct shared_code *old_shared,
			struct shared_code *shared, const struct code_event *event)
{
	struct code_event gone = *event;
	int err;

	gone.kind = JITBPF_CODE_UNLOAD;
	gone.method_id = 0;
	gone.address = event->old_address;
	gone.size_bytes = 1;
	err = apply_to(process, old_shared, &gone);
	/* No region begins at 0, so the move only makes the new place unknown. */
	gone = *event;
	gone.old_address = 0;
	return err ?: apply_to(process, shared, &gone);
}

static struct code_string string_of(const char *s)
{
	return (struct code_string){.bytes = s, .size_bytes = strlen(s)};
}

/*
 * A load in shared memory. A load without an address is in no memory, so its method is registered
 * in the process's own map.
 */
static int load_shared(struct process *process, struct shared_code *shared,
		       const struct code_event *event, struct code_event *there)
{
	const struct code_record *record = code_map_registered(process->code, event);
	int err;

	if (record) {
		there->name = string_of(record->region.name);
		there->class_name = string_of(code_region_class(&record->region));
		there->module = string_of(code_region_module(&record->region));
		if (!code_string_bytes(&there->source))
			there->source = string_of(code_region_source(&record->region));
	}
	err = shared_code_apply(shared, process->account, there);
	if (!err && record)
		code_map_unregister(process->code, event);
	return err;
}

int process_code_apply(struct process *process, const struct code_event *event)
{
	struct code_event there = *event;
	struct shared_code *shared, *old_shared = NULL;

	if (event->kind == JITBPF_CODE_REPLACED || event->kind == JITBPF_CODE_EVICTED)
		return code_map_apply(process->code, process->account, event);
	if (event->kind == JITBPF_CODE_UNLOAD && event->method_id)
		return unload_method(process, event);
	shared = shared_at(process, event->address, event->reported_ns, &there.address);
	if (event->kind == JITBPF_CODE_MOVE)
		old_shared = shared_at(process, event->old_address, event->reported_ns,
				       &there.old_address);
	if (shared || old_shared)
		there.origin.engine = engine_in_shared(process, event->origin.engine);
	if (shared && is_overtaken(shared->code, &there))
		return 0;
	if (event->kind == JITBPF_CODE_MOVE && shared != old_shared)
		return move_between(process, old_shared, shared, &there);
	if (event->kind == JITBPF_CODE_LOAD && shared)
		return load_shared(process, shared, event, &there);
	return apply_to(process, shared, &there);
}

const struct code_region *process_code_find(const struct process *process,
					    const struct mapping *mapping, uint64_t address,
					    uint64_t time_ns, struct code_place *ret_place)
{
	const struct code_region *region = NULL;
	struct code_place place = {0};

	if (mapping)
		place = mapping_code_place(mapping, address);
	if (place.code)
		region = code_map_find(place.code, place.address, time_ns);
	if (!region) {
		place = (struct code_place){.code = process->code, .address = address};
		region = place.code ? code_map_find(place.code, address, time_ns) : NULL;
	}
	*ret_place = place;
	return region;
}

int process_code_gap(struct process *process, const struct code_gap *gap)
{
	struct code_gap own = *gap, shared = *gap;
	int err;

	own.engine = 0;
	shared.engine = code_engine_of(process->number, 0);
	err = code_map_gap(process->code, process->account, &own);
	for (uint32_t i = 0; i < process->reported_count && !err; i++)
		err = shared_code_gap(process->reported[i], process->account, &shared);
	return err;
}
