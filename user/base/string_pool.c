/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/string_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/index_map.h"
#include "base/vec.h"

#define BLOCK_BYTES (64u << 10)

struct string_pool {
	VEC(const char *) strings;
	VEC(char *) blocks;
	size_t block_left; /* unused bytes of the last block of BLOCK_BYTES */
	char *block_at;
	struct index_map index;
	struct room room;
};

struct key {
	const char *s;
	size_t size_bytes;
};

static bool equal(const void *items, uint32_t item, const void *key_)
{
	const char *const *strings = items;
	const struct key *key = key_;

	return !strncmp(strings[item], key->s, key->size_bytes) && !strings[item][key->size_bytes];
}

int string_pool_create(struct string_pool **ret)
{
	struct string_pool *pool = calloc(1, sizeof(*pool));
	uint32_t empty;

	if (!pool)
		return -ENOMEM;
	if (string_pool_add(pool, "", 0, &empty)) {
		string_pool_destroy(pool);
		return -ENOMEM;
	}
	*ret = pool;
	return 0;
}

void string_pool_destroy(struct string_pool *pool)
{
	if (!pool)
		return;
	vec_for_each (block, &pool->blocks)
		free(*block);
	vec_deinit(&pool->blocks);
	vec_deinit(&pool->strings);
	index_map_deinit(&pool->index);
	free(pool);
}

/* Allocate size_bytes. A string larger than a quarter of a block gets a block of its own. */
static char *allocate(struct string_pool *pool, size_t size_bytes)
{
	size_t block_bytes = size_bytes > BLOCK_BYTES / 4 ? size_bytes : BLOCK_BYTES;
	char *block;

	if (size_bytes <= pool->block_left) {
		char *p = pool->block_at;

		pool->block_at += size_bytes;
		pool->block_left -= size_bytes;
		return p;
	}
	block = malloc(block_bytes);
	if (!block)
		return NULL;
	if (vec_push(&pool->blocks, block)) {
		free(block);
		return NULL;
	}
	if (block_bytes == BLOCK_BYTES) {
		pool->block_at = block + size_bytes;
		pool->block_left = block_bytes - size_bytes;
	}
	return block;
}

int string_pool_add(struct string_pool *pool, const char *s, size_t size_bytes, uint32_t *ret)
{
	struct key key = {.s = s, .size_bytes = strnlen(s, size_bytes)};
	uint64_t hash = hash_bytes(s, key.size_bytes, 0);
	uint32_t number = index_map_find(&pool->index, hash, equal, pool->strings.data, &key);
	char *copy;

	if (number != INDEX_MAP_NONE) {
		*ret = number;
		return 0;
	}
	if (!room_take(&pool->room, STRING_POOL_BYTES + key.size_bytes))
		return -EDQUOT;
	if (pool->strings.size >= INDEX_MAP_NONE - 1 ||
	    vec_reserve(&pool->strings, pool->strings.size + 1))
		return -ENOMEM;
	copy = allocate(pool, key.size_bytes + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, s, key.size_bytes);
	copy[key.size_bytes] = 0;
	number = (uint32_t)pool->strings.size;
	if (index_map_insert(&pool->index, hash, number))
		return -ENOMEM;
	pool->strings.data[pool->strings.size++] = copy;
	*ret = number;
	return 0;
}

void string_pool_set_room(struct string_pool *pool, const struct room *room)
{
	pool->room = *room;
}

const char *string_pool_get(const struct string_pool *pool, uint32_t number)
{
	return number < pool->strings.size ? pool->strings.data[number] : "";
}

uint32_t string_pool_size(const struct string_pool *pool)
{
	return (uint32_t)pool->strings.size;
}
