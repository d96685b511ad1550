/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of copy-on-write trees that share nodes: cells of one cache line
 * each, close together, so that a walk through a large tree touches few lines
 * and pages. It grows with what is in use and is given back with the last tree.
 */
#ifndef JITBPF_STATE_SPACE_COW_POOL_H
#define JITBPF_STATE_SPACE_COW_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

#define COW_CELL_BYTES 64

struct cow_cell {
	struct cow_cell *next;
};

struct cow_pool {
	uint32_t refs; /* trees */
	size_t free_count;
	struct cow_cell *free;
	size_t cells; /* in all blocks */
	VEC(void *) blocks;
};

/* NULL where there is no memory. */
struct cow_pool *cow_pool_create(void);
void cow_pool_put(struct cow_pool *pool); /* NULL is allowed */

/* Have at least count cells free. Returns 0 or -ENOMEM. */
int cow_pool_reserve(struct cow_pool *pool, size_t count);

/* A free cell, of COW_CELL_BYTES: there must be one. */
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
