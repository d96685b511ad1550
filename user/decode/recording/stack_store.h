/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The numbered stacks of a recording since the last FRESH chunk (uapi/recording.h), within
 * JITBPF_STACKS_MAX. Empty if zero-initialized. The owner calls stack_store_deinit().
 */
#ifndef JITBPF_DECODE_RECORDING_STACK_STORE_H
#define JITBPF_DECODE_RECORDING_STACK_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct stack {
	uint16_t kernel_frames;
	uint16_t user_frames;
	uint32_t user_end; /* enum jitbpf_stack_end */
	const void *ips;   /* uint64_t, kernel frames first; may be unaligned */
};

struct stack_store {
	VEC(uint64_t) words;   /* for each stack its head, then its ips */
	VEC(uint32_t) firsts;  /* by number: index of the head */
	uint64_t chunks_bytes; /* total size of their STACK chunks */
};

static inline uint32_t stack_frames(const struct stack *stack)
{
	return (uint32_t)stack->kernel_frames + stack->user_frames;
}

/*
 * Copy a stack as the next number. Returns 0, -ENOSPC (over JITBPF_STACKS_MAX) or -ENOMEM; on
 * failure the store is unchanged.
 */
int stack_store_add(struct stack_store *store, const struct stack *stack);

/* Returns false for an unknown number. *ret is valid until the next change. */
bool stack_store_get(const struct stack_store *store, uint32_t number, struct stack *ret);

/* Drop all stacks; numbers restart at 0. */
void stack_store_clear(struct stack_store *store);
void stack_store_deinit(struct stack_store *store);

#endif
