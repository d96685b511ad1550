/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An allocator for ranges of an array that the BPF programs read without locks.
 * Ranges are allocated in order, round the array. The oldest range is evicted
 * well before its space is reused, so that a concurrent reader is finished
 * before it is overwritten.
 */
#ifndef JITBPF_UNWIND_TABLES_UNWIND_ARENA_H
#define JITBPF_UNWIND_TABLES_UNWIND_ARENA_H

#include <stdint.h>

#define UNWIND_ARENA_NOBODY UINT32_MAX

struct unwind_arena {
	uint32_t first, size; /* range of the array */
	uint64_t next;	      /* items allocated so far; the position is `next` modulo size */
	struct unwind_span {
		uint64_t at;	 /* value of next at the allocation */
		uint32_t holder; /* UNWIND_ARENA_NOBODY if freed */
	} * spans;		 /* a ring, indexed by number */
	uint32_t spans_max;
	uint64_t oldest, newest; /* span numbers in use: [oldest, newest) */
};

/* Unpublishes the range of a holder, because its space is about to be reused. */
typedef void (*unwind_evict_fn)(void *context, uint32_t holder);

/* Create an arena of at most spans_max ranges. Returns 0 or -ENOMEM. */
int unwind_arena_init(struct unwind_arena *arena, uint32_t first, uint32_t size,
		      uint32_t spans_max);
void unwind_arena_deinit(struct unwind_arena *arena); /* zero-initialized is allowed */

/* Returns the largest count that can be allocated. */
uint32_t unwind_arena_most(const struct unwind_arena *arena);

/*
 * Allocate a range of 1..unwind_arena_most() items, and set *ret_first to its
 * index in the array. Ranges in the way are evicted. Returns the number of the
 * span.
 */
uint64_t unwind_arena_take(struct unwind_arena *arena, uint32_t count, uint32_t holder,
			   unwind_evict_fn evict, void *context, uint32_t *ret_first);

/* Free a span that was not evicted. */
void unwind_arena_give_back(struct unwind_arena *arena, uint64_t span);

#endif
