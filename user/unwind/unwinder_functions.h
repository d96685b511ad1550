/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions of the runtime frames of a sample: what their requests and merged stacks share. */
#ifndef JITBPF_UNWIND_UNWINDER_FUNCTIONS_H
#define JITBPF_UNWIND_UNWINDER_FUNCTIONS_H

#include "decode/record/sample_parts.h"
#include "unwind/unwinder_state.h"

#define MEMO_SLOTS 32 /* a power of two */

/* Functions that one stack has again and again. */
struct function_memo {
	struct sampled_function *functions[MEMO_SLOTS];
};

#define RUNTIME_WORD(number) ((uint64_t)JITBPF_FRAME_RUNTIME << JITBPF_FRAME_KIND_SHIFT | (number))

/*
 * Returns the recipe by which the runtime frames of a sample were found, or NULL. A recipe of an
 * earlier program may have been followed: the BPF program compares only where the stack ends.
 */
struct shared_recipe *runtime_recipe_of(struct unwinder *u, const struct process *process,
					const struct jitbpf_sample *sample,
					const struct jitbpf_runtime_frames **ret);

/* Returns whose functions those of a process are, for known_stacks. */
uint64_t runtime_scope_of(const struct shared_recipe *recipe, const struct process *process);

/* Returns true if the function of a frame can be read: its check is known. */
bool runtime_frame_can_be_read(const struct runtime_frame *frame);

/* Returns true if two frames show the same. */
bool runtime_frame_is_same(const struct runtime_frame *a, const struct runtime_frame *b);

/* Returns true if a frame only says where a loop begins. */
bool runtime_frame_is_mark(const struct runtime_frame *frame);

/* Find a function, or add it. Returns 0 with *ret, or NULL in it (no room), or -ENOMEM. */
int runtime_get_function(struct unwinder *u, const struct process *process,
			 const struct shared_recipe *recipe, const struct runtime_frame *frame,
			 struct function_memo *memo, struct sampled_function **ret);

/* Returns the words of a frame whose function has a name. */
struct runtime_words runtime_named_words(const struct sampled_function *one,
					 const struct runtime_frame *frame);

#endif
