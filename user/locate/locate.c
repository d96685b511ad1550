/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "locate/locate.h"

#include <errno.h>

#include "state/process_code.h"

static int locate_kernel(struct location_table *table, const struct space_map *kernel_code,
			 uint64_t address, uint64_t time_ns, uint32_t *ret)
{
	struct location location = {.kind = LOCATION_KERNEL, .offset = address};
	struct space_entry entry;

	if (space_map_find(kernel_code, address, time_ns, &entry)) {
		const struct kernel_code *code = (const struct kernel_code *)entry.value;

		location.kind = LOCATION_KERNEL_CODE;
		location.owner = code->number;
		location.offset = address - code->address;
		location.code = entry.value;
	}
	return location_table_add(table, &location, ret);
}

/*
 * JIT code lies in memory of its own, so a file mapped there since the load has
 * taken its place: the kernel tells of new mappings, but not of those that go.
 */
static bool replaced_by_file(const struct code_region *region, const struct space_entry *mapped)
{
	const struct mapping *mapping = (const struct mapping *)mapped->value;

	return mapping->module != MAPPING_ANON && mapped->from_ns > region->loaded_ns;
}

static struct location user_location(const struct process *process, uint64_t address,
				     uint64_t time_ns)
{
	struct location location = {.kind = LOCATION_UNKNOWN, .offset = address};
	const struct mapping *mapping = NULL;
	const struct code_region *region;
	struct code_place place;
	struct space_entry mapped;

	if (!process->mappings)
		return location;
	if (space_map_find(process->mappings, address, time_ns, &mapped))
		mapping = (const struct mapping *)mapped.value;
	region = process_code_find(process, mapping, address, time_ns, &place);
	if (region &&
	    !(mapping && place.code == process->code && replaced_by_file(region, &mapped))) {
		location.kind = LOCATION_JIT;
		location.owner = region->number;
		location.offset = place.address - region->address;
		location.code = &region->value;
		return location;
	}
	if (!mapping)
		return location;
	if (mapping->module == MAPPING_ANON) {
		location.kind = LOCATION_ANON;
		return location;
	}
	location.kind = LOCATION_NATIVE;
	location.owner = mapping->module;
	location.offset = address - mapping->address + mapping->file_offset;
	return location;
}

/* Is it an address of the program that the process ran before, and not of this one? */
static bool is_of_old_program(const struct process *process, uint64_t address)
{
	struct space_entry mapped;

	return process->mappings && process->program_ns &&
	       space_map_find(process->mappings, address, process->program_ns - 1, &mapped);
}

int locate_stack(struct location_table *table, const struct space_map *kernel_code,
		 const struct process *process, const struct raw_stack *stack, uint64_t time_ns,
		 struct located_stack *ret)
{
	uint32_t *out = ret->locations;
	int err;

	if (stack->kernel_frames > JITBPF_FRAMES_MAX || stack->user_frames > JITBPF_FRAMES_MAX)
		return -EINVAL;
	ret->kernel_frames = stack->kernel_frames;
	ret->user_frames = stack->user_frames;
	ret->user_end = stack->user_end;
	ret->code_unknown = false;
	for (uint32_t i = 0; i < stack->kernel_frames; i++) {
		/* Callers are looked up where they call, not where they go on. */
		err = locate_kernel(table, kernel_code, stack->ips[i] - (i > 0), time_ns, out++);
		if (err)
			return err;
	}
	for (uint32_t i = 0; i < stack->user_frames; i++) {
		uint64_t address = stack->ips[stack->kernel_frames + i] - (i > 0);
		struct location location = user_location(process, address, time_ns);

		if (location.kind == LOCATION_UNKNOWN && i == 0 && stack->kernel_frames &&
		    is_of_old_program(process, address)) {
			ret->user_frames = 0;
			ret->user_end = JITBPF_END_NONE;
			break;
		}
		if (location.kind == LOCATION_UNKNOWN && i > 0) {
			ret->user_frames = i;
			ret->user_end = JITBPF_END_BAD_FRAME;
			break;
		}
		if (location.kind == LOCATION_UNKNOWN || location.kind == LOCATION_ANON)
			ret->code_unknown = true;
		err = location_table_add(table, &location, out++);
		if (err)
			return err;
	}
	return 0;
}
