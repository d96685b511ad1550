/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/process/process_code.h"

const struct mapping *process_mapping_told(const struct process *process, uint64_t address,
					   uint64_t hit_ns)
{
	struct space_entry mapped;

	if (!process->mappings)
		return NULL;
	if (space_map_find(process->mappings, address, hit_ns, &mapped) ||
	    (hit_ns >= process->program_ns &&
	     space_map_find(process->mappings, address, UINT64_MAX, &mapped)))
		return (const struct mapping *)mapped.value;
	return NULL;
}

static uint64_t engine_in_shared(const struct process *process, uint64_t engine)
{
	/* A call site whose DSO is not known could be another process's as well: it is this one's.
	 */
	return code_engine_of(process->number,
			      engine & CODE_ENGINE_KNOWN ? (uint32_t)engine : UINT32_MAX);
}

/* Whether the process may report code in an object; then it holds it. */
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

static int unload_method(struct process *process, const struct jit_event *event, uint64_t engine,
			 uint64_t time_ns)
{
	uint64_t engine_there = engine_in_shared(process, engine);
	uint32_t id = event->header.method_id;
	bool found = false;
	int err = 0;

	for (uint32_t i = 0; i < process->reported_count && !err; i++) {
		struct shared_code *shared = process->reported[i];

		if (!shared->code || !code_map_has_method(shared->code, id, engine_there, time_ns))
			continue;
		found = true;
		err = shared_code_apply(shared, process->code, event, engine_there, time_ns);
	}
	if (err || (found && !code_map_has_method(process->code, id, engine, time_ns)))
		return err;
	return code_map_apply(process->code, event, engine, time_ns);
}

/* A forebear's event of before the fork, which the forebear itself may have overtaken since. */
static bool is_overtaken(const struct code_map *code, const struct jit_event *event,
			 uint64_t engine)
{
	uint64_t start = event->header.address;

	return event->header.sequence == JITBPF_JIT_INHERITED && code &&
	       code_map_has_others(code, start, start + event->header.code_bytes, engine);
}

int process_code_apply(struct process *process, const struct jit_event *event, uint64_t engine,
		       uint64_t hit_ns, uint64_t time_ns)
{
	const struct mapping *mapping =
		process_mapping_told(process, event->header.address, hit_ns);
	struct shared_code *shared = mapping ? mapping->shared : NULL;
	struct jit_event moved = *event;

	if (event->header.event == JIT_EVENT_UNLOAD && event->header.method_id)
		return unload_method(process, event, engine, time_ns);
	if (!shared || !may_report_in(process, shared))
		return code_map_apply(process->code, event, engine, time_ns);
	moved.header.address = mapping_code_place(mapping, event->header.address).address;
	engine = engine_in_shared(process, engine);
	if (is_overtaken(shared->code, &moved, engine))
		return 0;
	return shared_code_apply(shared, process->code, &moved, engine, time_ns);
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

int process_code_gap(struct process *process, uint64_t from_ns, uint64_t to_ns,
		     const uint64_t *live, size_t live_count)
{
	int err = code_map_gap(process->code, from_ns, to_ns, live, live_count);

	for (uint32_t i = 0; i < process->reported_count && !err; i++)
		err = shared_code_gap(process->reported[i], process->code,
				      code_engine_of(process->number, 0), from_ns, to_ns, live,
				      live_count);
	return err;
}
