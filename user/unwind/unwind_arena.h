/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Room in an array that others read without asking: handed out in order, round and round.
 * What was handed out longest ago gives way, well before its room is used again: whoever reads
 * it just then has gone on by the time it is overwritten.
 */
#ifndef JITBPF_UNWIND_UNWIND_ARENA_H
#define JITBPF_UNWIND_UNWIND_ARENA_H

#include <stdint.h>

#define UNWIND_ARENA_NOBODY UINT32_MAX

struct unwind_arena {
	uint32_t first, size; /* its part of the array */
	uint64_t next;	      /* places handed out so far: the next one, but for whole rounds */
	struct unwind_span {
		uint64_t at;	 /* as next was */
		uint32_t holder; /* UNWIND_ARENA_NOBODY: given back */
	} * spans;		 /* a ring by number */
	uint32_t spans_max;
	uint64_t oldest, newest; /* numbers of spans: [oldest, newest) */
};

/* Takes what a holder had out of use: its room is about to be used again. */
typedef void (*unwind_evict_fn)(void *context, uint32_t holder);

/* At most spans_max spans at a time. Returns 0 or -ENOMEM. */
int unwind_arena_init(struct unwind_arena *arena, uint32_t first, uint32_t size,
		      uint32_t spans_max);
void unwind_arena_deinit(struct unwind_arena *arena); /* zero-initialized is allowed */

/* The most that can be taken at once. */
uint32_t unwind_arena_most(const struct unwind_arena *arena);

/*
 * Take room for count items in a row, 1..unwind_arena_most(); *ret_first is where in the
 * array. Those in its way are evicted. Returns the span's number.
 */
uint64_t unwind_arena_take(struct unwind_arena *arena, uint32_t count, uint32_t holder,
			   unwind_evict_fn evict, void *context, uint32_t *ret_first);

/* A span's holder needs it no more. Not for one that was evicted. */
void unwind_arena_give_back(struct unwind_arena *arena, uint64_t span);

#endif
