/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The last runtime frames of a few threads, and the words of finished frames that they became. The
 * next sample of a thread mostly has the same outer frames, which need no look-up then.
 *
 * Words are kept of functions that are named, which never change. Single-threaded.
 */
#ifndef JITBPF_UNWIND_RUNTIMES_KNOWN_STACKS_H
#define JITBPF_UNWIND_RUNTIMES_KNOWN_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/runtimes/runtime_merge.h"

#define KNOWN_STACKS 4 /* threads share them by number */

/* Words are looked up anew after this time, so that their functions count as used. */
#define KNOWN_STACK_NS 1000000000ull

struct known_stack {
	uint64_t scope; /* runtime_function_scope() of its functions; 0: the stack is empty */
	uint32_t count; /* of frames */
	uint32_t known; /* of the outermost ones, which have words */
	uint64_t since_ns;
	/* Newest first, at the ends of the arrays. */
	struct runtime_frame frames[JITBPF_RUNTIME_FRAMES_MAX];
	struct runtime_words words[JITBPF_RUNTIME_FRAMES_MAX];
};

/* Zero-initialized is empty. */
struct known_stacks {
	struct known_stack *stacks; /* KNOWN_STACKS; NULL: none yet */
};

/* Returns the stack of a thread, which another one may have used last; NULL: no memory. */
struct known_stack *known_stacks_of(struct known_stacks *stacks, uint32_t tid);

/*
 * Set a stack to the frames of a sample. Returns the number of innermost frames without words: the
 * caller looks these up, and sets `known`. Words are those of known_stack_words().
 */
uint32_t known_stack_set(struct known_stack *stack, uint64_t scope,
			 const struct jitbpf_runtime_frames *part, uint64_t now_ns);

/* Returns true if a stack has the frames of a sample. */
bool known_stack_is(const struct known_stack *stack, uint64_t scope,
		    const struct jitbpf_runtime_frames *part);

/* Returns the words of the frames, newest first. */
static inline struct runtime_words *known_stack_words(struct known_stack *stack)
{
	return stack->words + JITBPF_RUNTIME_FRAMES_MAX - stack->count;
}

void known_stacks_deinit(struct known_stacks *stacks);

#endif
