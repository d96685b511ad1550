/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A pool of cells for the nodes of copy-on-write trees (cow_tree.h). Cells are allocated in blocks,
 * so that a walk through a large tree touches few lines and pages. Trees that share nodes share a
 * pool; the pool is freed with the last of them.
 */
#ifndef JITBPF_STATE_SPACE_COW_POOL_H
#define JITBPF_STATE_SPACE_COW_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

#define COW_CELL_BYTES 264

struct cow_cell {
	struct cow_cell *next;
};

struct cow_pool {
	uint32_t refs; /* number of trees */
	size_t free_count;
	struct cow_cell *free;
	size_t cells; /* in all blocks */
	VEC(void *) blocks;
};

/* Returns a pool with one reference, or NULL (out of memory). */
struct cow_pool *cow_pool_create(void);
void cow_pool_put(struct cow_pool *pool); /* NULL is allowed */

/* Ensure that at least count cells are free. Returns 0 or -ENOMEM. */
int cow_pool_reserve(struct cow_pool *pool, size_t count);

/* Take a free cell of COW_CELL_BYTES; cow_pool_reserve() has ensured that there is one. */
static inline void *cow_pool_take(struct cow_pool *pool)
{
	struct cow_cell *cell = pool->free;

	pool->free = cell->next;
	pool->free_count--;
	return cell;
}

static inline void cow_pool_give(struct cow_pool *pool, void *p)
{
	struct cow_cell *cell = p;

	cell->next = pool->free;
	pool->free = cell;
	pool->free_count++;
}

#endif
