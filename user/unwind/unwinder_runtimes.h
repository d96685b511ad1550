/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the unwinder does for runtime frames (uapi/runtime_recipe.h): it has recipes made and
 * published for sampled processes, has the functions of samples read, and merges runtime frames
 * with the native frames of a complete stack. If the tables cannot publish recipes, it does
 * nothing.
 */
#ifndef JITBPF_UNWIND_UNWINDER_RUNTIMES_H
#define JITBPF_UNWIND_UNWINDER_RUNTIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/record/sample_frames.h"
#include "unwind/runtimes/runtime_merge.h"
#include "unwind/runtimes/runtime_names.h"
#include "unwind/unwinder.h"

/*
 * A sample of a process was taken. Requests the recipe of the process if it has none, and the
 * functions of its runtime frames: their objects may be freed soon. Returns 0 or -ENOMEM.
 */
int unwinder_runtime_sampled(struct unwinder *unwinder, const struct process *process,
			     const struct jitbpf_sample *sample);

/* Returns the key that a sample has to wait for, since a function is pending; or 0. */
uint64_t unwinder_runtime_awaits(struct unwinder *unwinder, const struct process *process,
				 const struct jitbpf_sample *sample);

/*
 * Merge the runtime frames of a sample with its complete native stack. Functions that are not known
 * are shown as that. Returns 1 with *ret set; 0 if the sample has no runtime frames; or -ENOMEM.
 */
int unwinder_runtime_merge(struct unwinder *unwinder, const struct process *process,
			   const struct jitbpf_sample *sample, const struct finished_stack *stack,
			   struct merged_stack *ret);

/* A process has executed a program, which may load a runtime. Returns 0 or -ENOMEM. */
int unwinder_program(struct unwinder *unwinder, const struct process *process,
		     const struct jitbpf_program *program);

/* A child process was forked. Returns 0 or -ENOMEM. */
int unwinder_forked(struct unwinder *unwinder, const struct process *parent,
		    const struct process *child);

/* Returns true while a runtime is about to start, or has been asked for. */
bool unwinder_runtimes_start(const struct unwinder *unwinder);

/* Returns true while a runtime that has not started will be asked for again before long. */
bool unwinder_runtimes_young(const struct unwinder *unwinder);

/* What has become known of a process. */
struct runtime_news {
	const struct process *process;
	const struct engine *engine;
	enum jitbpf_runtime_status status;
	struct engine_version version;
};

/* Take what has become known, before samples are emitted. Return false or NULL if there is none. */
bool unwinder_take_runtime(struct unwinder *unwinder, struct runtime_news *ret);
const struct runtime_name *unwinder_take_function(struct unwinder *unwinder);

#endif
