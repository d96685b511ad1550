/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/recording/stack_store.h"

#include <errno.h>
#include <string.h>

#include "uapi/recording.h"

_Static_assert(JITBPF_STACKS_MAX / sizeof(uint64_t) <= UINT32_MAX, "firsts are 32 bits wide");

int stack_store_add(struct stack_store *store, const struct stack *stack)
{
	uint64_t ips_bytes = (uint64_t)stack_frames(stack) * sizeof(uint64_t);
	uint64_t chunk_bytes = sizeof(struct jitbpf_stack_chunk) + ips_bytes;
	size_t first = store->words.size;

	if (chunk_bytes > JITBPF_STACKS_MAX - store->chunks_bytes)
		return -ENOSPC;
	if (vec_reserve(&store->words, first + 1 + stack_frames(stack)) ||
	    vec_push(&store->firsts, (uint32_t)first))
		return -ENOMEM;
	store->words.data[first] = stack->kernel_frames | (uint64_t)stack->user_frames << 16 |
				   (uint64_t)stack->user_end << 32;
	if (ips_bytes)
		memcpy(store->words.data + first + 1, stack->ips, ips_bytes);
	store->words.size += 1 + stack_frames(stack);
	store->chunks_bytes += chunk_bytes;
	return 0;
}

bool stack_store_get(const struct stack_store *store, uint32_t number, struct stack *ret)
{
	const uint64_t *words;

	if (number >= store->firsts.size)
		return false;
	words = store->words.data + store->firsts.data[number];
	*ret = (struct stack){
		.kernel_frames = (uint16_t)words[0],
		.user_frames = (uint16_t)(words[0] >> 16),
		.user_end = (uint32_t)(words[0] >> 32),
		.ips = words + 1,
	};
	return true;
}

void stack_store_clear(struct stack_store *store)
{
	store->words.size = 0;
	store->firsts.size = 0;
	store->chunks_bytes = 0;
}

void stack_store_deinit(struct stack_store *store)
{
	vec_deinit(&store->words);
	vec_deinit(&store->firsts);
	store->chunks_bytes = 0;
}
