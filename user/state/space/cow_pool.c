/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/space/cow_pool.h"

#include <errno.h>
#include <stdlib.h>

#define CELLS_MIN 1   /* most processes have few mappings and no JIT code */
#define CELLS_MAX 512 /* in a block */

struct cow_pool *cow_pool_create(void)
{
	struct cow_pool *pool = calloc(1, sizeof(*pool));

	if (pool)
		pool->refs = 1;
	return pool;
}

void cow_pool_put(struct cow_pool *pool)
{
	if (!pool || --pool->refs)
		return;
	vec_for_each (block, &pool->blocks)
		free(*block);
	vec_deinit(&pool->blocks);
	free(pool);
}

/* Each block is as large as all blocks before it, up to CELLS_MAX. */
static size_t next_block(const struct cow_pool *pool)
{
	if (pool->cells < CELLS_MIN)
		return CELLS_MIN;
	return pool->cells < CELLS_MAX ? pool->cells : CELLS_MAX;
}

static int add_block(struct cow_pool *pool)
{
	size_t cells = next_block(pool);
	unsigned char *block;

	if (vec_reserve(&pool->blocks, pool->blocks.size + 1))
		return -ENOMEM;
	block = malloc(cells * COW_CELL_BYTES);
	if (!block)
		return -ENOMEM;
	pool->blocks.data[pool->blocks.size++] = block;
	pool->cells += cells;
	/* The free list is in the order of addresses, so that neighbours are used together. */
	for (size_t i = cells; i--;)
		cow_pool_give(pool, block + i * COW_CELL_BYTES);
	return 0;
}

int cow_pool_reserve(struct cow_pool *pool, size_t count)
{
	while (pool->free_count < count) {
		if (add_block(pool))
			return -ENOMEM;
	}
	return 0;
}
