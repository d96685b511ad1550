/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stacks of a recording that are in force, by number (uapi/recording.h). The
 * recorder and the reader keep the same ones, within JITBPF_STACKS_MAX. Zero-initialized is empty.
 * The owner calls stack_store_deinit().
 */
#ifndef JITBPF_DECODE_RECORD_STACK_STORE_H
#define JITBPF_DECODE_RECORD_STACK_STORE_H

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
	VEC(uint64_t) words;   /* of each stack its head, then its ips */
	VEC(uint32_t) firsts;  /* by number: index of its head */
	uint64_t chunks_bytes; /* of the STACK chunks that hold them */
};

static inline uint32_t stack_frames(const struct stack *stack)
{
	return (uint32_t)stack->kernel_frames + stack->user_frames;
}

/*
 * Add a stack as the next number. Copies. Returns 0, -ENOSPC where it is more
 * than JITBPF_STACKS_MAX allows, or -ENOMEM; on failure the store is unchanged.
 */
int stack_store_add(struct stack_store *store, const struct stack *stack);

/* False, with *ret unchanged, where there is no such number. Borrowed until the next change. */
bool stack_store_get(const struct stack_store *store, uint32_t number, struct stack *ret);

/* Forget all: numbers begin at 0 again. */
void stack_store_clear(struct stack_store *store);
void stack_store_deinit(struct stack_store *store);

#endif
