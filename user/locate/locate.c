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

static struct location frame_location(const struct process *process,
				      const struct typed_frame *frame, uint64_t time_ns)
{
	if (frame->kind == JITBPF_FRAME_RUNTIME)
		return (struct location){
			.kind = LOCATION_RUNTIME, .owner = frame->value, .offset = frame->position};
	return user_location(process, frame->value, time_ns, frame->is_caller);
}

static int locate_user(struct location_table *table, const struct process *process,
		       const struct raw_stack *stack, uint64_t time_ns, struct located_stack *ret)
{
	uint32_t *out = ret->locations + ret->kernel_frames;
	struct frame_words rest = stack->user;
	struct typed_frame frame;
	int err = 0;

	ret->user_frames = 0;
	ret->user_end = stack->user_end;
	while (!err && frame_words_next(&rest, &frame)) {
		struct location location = frame_location(process, &frame, time_ns);
		bool untold = stack->code_untold && !rest.count;

		if (location.kind == LOCATION_UNKNOWN && !frame.is_caller && stack->kernel.count &&
		    is_of_old_program(process, frame.value, time_ns)) {
			ret->user_frames = 0;
			ret->user_end = JITBPF_END_NONE;
			break;
		}
		if (location.kind == LOCATION_UNKNOWN && frame.is_caller) {
			ret->user_end = JITBPF_END_BAD_FRAME;
			break;
		}
		if (untold && frame.kind == JITBPF_FRAME_ADDRESS)
			location = (struct location){.kind = LOCATION_ANON, .offset = frame.value};
		ret->code_unknown |= location_kind_info(location.kind)->code_unknown;
		ret->user_frames++;
		err = add_location(table, &location, out++);
	}
	return err;
}

int locate_stack(struct location_table *table, const struct space_map *kernel_code,
		 const struct process *process, const struct raw_stack *stack, uint64_t time_ns,
		 struct located_stack *ret)
{
	uint32_t *out = ret->locations;
	int err = 0;

	if (stack->kernel.count > JITBPF_KERNEL_FRAMES_MAX ||
	    stack->user.count > JITBPF_USER_FRAMES_MAX)
		return -EINVAL;
	ret->kernel_frames = stack->kernel.count;
	ret->code_unknown = false;
	for (uint32_t i = 0; i < stack->kernel.count && !err; i++)
		/* A caller is looked up at its call, not at the return address. */
		err = locate_kernel(table, kernel_code, stack->kernel.words[i] - (i > 0), time_ns,
				    out++);
	return err ?: locate_user(table, process, stack, time_ns, ret);
}
