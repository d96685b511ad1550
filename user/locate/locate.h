/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Converts sampled stacks into locations, by the code that was at each address at the sample's
 * time. Later stages do not need the time.
 */
#ifndef JITBPF_LOCATE_LOCATE_H
#define JITBPF_LOCATE_LOCATE_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/record/sample_frames.h"
#include "locate/frame_cache.h"
#include "locate/location.h"
#include "state/process/process_table.h"
#include "uapi/record.h"

/* The frames of one sample; kernel frames are addresses. */
struct raw_stack {
	struct frame_words kernel, user;
	enum jitbpf_stack_end user_end;
	bool code_untold; /* JITBPF_SAMPLE_CODE_UNTOLD */
};

#define LOCATED_FRAMES_MAX JITBPF_SAMPLE_WORDS_MAX

/*
 * The locations of a stack, one per raw frame, and room for LOCATION_CUT. A user stack is cut in
 * two cases. A caller at an address where nothing executable is mapped is dropped, and its callers
 * too. During execve, the user registers are still those of the old program; then there is no user
 * stack.
 */
struct located_stack {
	uint32_t locations[LOCATED_FRAMES_MAX + 1]; /* location numbers, or LOCATION_NO_ROOM */
	uint32_t kernel_frames;
	uint32_t user_frames;
	enum jitbpf_stack_end user_end;
	bool code_unknown;	   /* some frame is at an address without known code */
	bool code_unpublished;	   /* the same of a frame that runtime frames stand for */
	bool has_function;	   /* some frame is a known function of a runtime */
	bool has_unknown_function; /* some frame is another function of a runtime */
	bool has_gap; /* a stack whose outermost frame is not known ends with a gap, then */
};

/*
 * Locate all frames of a stack that was sampled in process at time_ns.
 * cache NULL: all frames are looked up. Returns 0, or -EINVAL
 * (too many frames) or -ENOMEM with *ret undefined.
 */
int locate_stack(struct location_table *table, const struct global_code *global,
		 const struct process *process, const struct raw_stack *stack, uint64_t time_ns,
		 const struct frame_cache *cache, struct located_stack *ret);

#endif
