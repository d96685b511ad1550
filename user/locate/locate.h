/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Turns a sampled stack into locations: what stood at each address at the
 * sample's time, in its process. This is the one place where time matters.
 */
#ifndef JITBPF_LOCATE_LOCATE_H
#define JITBPF_LOCATE_LOCATE_H

#include <stdbool.h>
#include <stdint.h>

#include "locate/location.h"
#include "state/process/process_table.h"
#include "uapi/record.h"

/* Frames of one sample, borrowed: kernel leaf first, then user leaf first. */
struct raw_stack {
	const uint64_t *ips;
	uint32_t kernel_frames;
	uint32_t user_frames;
	enum jitbpf_stack_end user_end;
};

#define LOCATED_FRAMES_MAX (2 * JITBPF_FRAMES_MAX)

/*
 * One to one with the raw frames, but where the walk of a user stack had gone
 * astray: a caller at an address where nothing executable is mapped is no
 * frame, so the stack is cut before it, and user_frames says where. While the
 * kernel begins a new program, the user's registers are still those of the old
 * one: then there is no user stack.
 */
struct located_stack {
	uint32_t locations[LOCATED_FRAMES_MAX]; /* numbers in the location table */
	uint32_t kernel_frames;
	uint32_t user_frames;
	enum jitbpf_stack_end user_end;
	bool code_unknown; /* some frame lies where no code was known at that time */
};

/*
 * Locate all frames of a stack that was sampled in process at time_ns.
 * kernel_code holds the kernel's code made at run time (struct kernel_code).
 * Returns 0; or -EINVAL (too many frames) or -ENOMEM, with *ret undefined.
 */
int locate_stack(struct location_table *table, const struct space_map *kernel_code,
		 const struct process *process, const struct raw_stack *stack, uint64_t time_ns,
		 struct located_stack *ret);

#endif
