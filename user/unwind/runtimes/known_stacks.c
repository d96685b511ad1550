/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/runtimes/known_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/common_words.h"

#define FRAME_WORDS (sizeof(struct runtime_frame) / sizeof(uint64_t))

struct known_stack *known_stacks_of(struct known_stacks *stacks, uint32_t tid)
{
	if (!stacks->stacks)
		stacks->stacks = calloc(KNOWN_STACKS, sizeof(*stacks->stacks));
	return stacks->stacks ? &stacks->stacks[tid % KNOWN_STACKS] : NULL;
}

/* Returns the number of outermost frames that a stack has in common with a sample. */
static uint32_t count_common(const struct known_stack *stack,
			     const struct jitbpf_runtime_frames *part, uint32_t most)
{
	const struct runtime_frame *end = part->frames + part->count;

	if (most > part->count)
		most = part->count;
	return common_last_words((const uint64_t *)(stack->frames + JITBPF_RUNTIME_FRAMES_MAX),
				 (const uint64_t *)end, most * FRAME_WORDS) /
	       FRAME_WORDS;
}

uint32_t known_stack_set(struct known_stack *stack, uint64_t scope,
			 const struct jitbpf_runtime_frames *part, uint64_t now_ns)
{
	uint32_t count = part->count, known = 0;

	if (stack->scope == scope && now_ns < stack->since_ns + KNOWN_STACK_NS)
		known = count_common(stack, part, stack->known);
	else
		stack->since_ns = now_ns;
	memcpy(stack->frames + JITBPF_RUNTIME_FRAMES_MAX - count, part->frames,
	       (count - known) * sizeof(*stack->frames));
	stack->scope = scope;
	stack->count = count;
	stack->known = known;
	return count - known;
}

bool known_stack_is(const struct known_stack *stack, uint64_t scope,
		    const struct jitbpf_runtime_frames *part)
{
	return stack->scope == scope && stack->count == part->count &&
	       count_common(stack, part, part->count) == part->count;
}

void known_stacks_deinit(struct known_stacks *stacks)
{
	free(stacks->stacks);
	stacks->stacks = NULL;
}
