/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "locate/locate.h"

#include <errno.h>

#include "locate/code_site.h"

/* A location that the table has no room for is LOCATION_NO_ROOM. */
static int add_location(struct location_table *table, const struct location *location,
			uint32_t *ret)
{
	int err = location_table_add(table, location, ret);

	if (err != -EDQUOT)
		return err;
	*ret = LOCATION_NO_ROOM;
	return 0;
}

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
	return add_location(table, &location, ret);
}

static struct location user_location(const struct process *process, uint64_t address,
				     uint64_t time_ns, bool is_caller)
{
	struct code_site site = is_caller ? code_site_of_caller(process, address, time_ns)
					  : code_site_at(process, address, time_ns);
	struct location location = {.kind = site.kind, .offset = site.offset};

	if (site.kind == LOCATION_JIT) {
		location.owner = site.region->number;
		location.code = &site.region->value;
	} else if (site.kind == LOCATION_NATIVE) {
		location.owner = site.module;
	}
	return location;
}

/* Returns true if an address was mapped only in the program that the process ran before time_ns. */
static bool is_of_old_program(const struct process *process, uint64_t address, uint64_t time_ns)
{
	uint64_t program_ns = process_program_at(process, time_ns);
	struct space_entry mapped;

	return process->mappings && program_ns &&
	       space_map_find(process->mappings, address, program_ns - 1, &mapped);
}

int locate_stack(struct location_table *table, const struct space_map *kernel_code,
		 const struct process *process, const struct raw_stack *stack, uint64_t time_ns,
		 struct located_stack *ret)
{
	uint32_t *out = ret->locations;
	int err;

	if (stack->kernel_frames > JITBPF_KERNEL_FRAMES_MAX ||
	    stack->user_frames > JITBPF_USER_FRAMES_MAX)
		return -EINVAL;
	ret->kernel_frames = stack->kernel_frames;
	ret->user_frames = stack->user_frames;
	ret->user_end = stack->user_end;
	ret->code_unknown = false;
	for (uint32_t i = 0; i < stack->kernel_frames; i++) {
		/* A caller is looked up at its call, not at the return address. */
		err = locate_kernel(table, kernel_code, stack->ips[i] - (i > 0), time_ns, out++);
		if (err)
			return err;
	}
	for (uint32_t i = 0; i < stack->user_frames; i++) {
		uint64_t address = stack->ips[stack->kernel_frames + i];
		struct location location = user_location(process, address, time_ns, i > 0);

		if (location.kind == LOCATION_UNKNOWN && i == 0 && stack->kernel_frames &&
		    is_of_old_program(process, address, time_ns)) {
			ret->user_frames = 0;
			ret->user_end = JITBPF_END_NONE;
			break;
		}
		if (location.kind == LOCATION_UNKNOWN && i > 0) {
			ret->user_frames = i;
			ret->user_end = JITBPF_END_BAD_FRAME;
			break;
		}
		if (stack->code_untold && i + 1 == stack->user_frames)
			location = (struct location){.kind = LOCATION_ANON, .offset = address};
		if (location.kind == LOCATION_UNKNOWN || location.kind == LOCATION_ANON)
			ret->code_unknown = true;
		err = add_location(table, &location, out++);
		if (err)
			return err;
	}
	return 0;
}
