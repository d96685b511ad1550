/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/tables/unwind_arena.h"

#include <errno.h>
#include <stdlib.h>

/* Distance between the oldest range in use and the range that is written. */
static uint32_t margin(const struct unwind_arena *arena)
{
	return arena->size / 8;
}

int unwind_arena_init(struct unwind_arena *arena, uint32_t first, uint32_t size, uint32_t spans_max)
{
	struct unwind_span *spans = calloc(spans_max, sizeof(*spans));

	if (!spans)
		return -ENOMEM;
	*arena = (struct unwind_arena){
		.first = first, .size = size, .spans = spans, .spans_max = spans_max};
	return 0;
}

void unwind_arena_deinit(struct unwind_arena *arena)
{
	free(arena->spans);
}

uint32_t unwind_arena_most(const struct unwind_arena *arena)
{
	return arena->size / 4;
}

static struct unwind_span *span_of(const struct unwind_arena *arena, uint64_t number)
{
	return &arena->spans[number % arena->spans_max];
}

static void evict_oldest(struct unwind_arena *arena, unwind_evict_fn evict, void *context)
{
	const struct unwind_span *span = span_of(arena, arena->oldest++);

	if (span->holder != UNWIND_ARENA_NOBODY)
		evict(context, span->holder);
}

uint64_t unwind_arena_take(struct unwind_arena *arena, uint32_t count, uint32_t holder,
			   unwind_evict_fn evict, void *context, uint32_t *ret_first)
{
	uint32_t place = (uint32_t)(arena->next % arena->size);
	uint64_t at = arena->next, until;

	if (arena->size - place < count)
		at += arena->size - place; /* the rest of the array is too small */
	until = at + count + margin(arena);
	while (arena->oldest < arena->newest &&
	       (span_of(arena, arena->oldest)->at + arena->size < until ||
		arena->newest - arena->oldest == arena->spans_max))
		evict_oldest(arena, evict, context);
	arena->next = at + count;
	*span_of(arena, arena->newest) = (struct unwind_span){.at = at, .holder = holder};
	*ret_first = arena->first + (uint32_t)(at % arena->size);
	return arena->newest++;
}

void unwind_arena_give_back(struct unwind_arena *arena, uint64_t span)
{
	span_of(arena, span)->holder = UNWIND_ARENA_NOBODY;
}
