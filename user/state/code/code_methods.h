/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The index of a code map's regions by method id: a tree whose keys are the id
 * and a number that counts up, so that regions of one id stand in the order in
 * which they came. Engines that use the same id share it.
 */
#ifndef JITBPF_STATE_CODE_CODE_METHODS_H
#define JITBPF_STATE_CODE_CODE_METHODS_H

#include "state/code/code_map_state.h"

/*
 * How many regions of an id are looked at, the latest ones. Parts of one
 * function are a handful; one id on a million regions is no reason to be slow.
 */
#define CODE_METHOD_REGIONS_MAX 4096 /* by an unload */
#define CODE_METHOD_PARTS_MAX	64   /* by a load, for the part before it */

/* Where the regions of a method id stand in the index: 2^32 keys, the last never used. */
static inline uint64_t code_method_key(uint32_t method_id, uint32_t count)
{
	return (uint64_t)method_id << 32 | count;
}

/* The region of a method id that came last before the one at key, or NULL. */
static inline const struct cow_item *code_method_before(const struct code_map *map,
							uint32_t method_id, uint64_t key)
{
	const struct cow_item *item = NULL;

	if (key > code_method_key(method_id, 0))
		item = cow_tree_last(&map->methods, key - 1);
	return item && item->start >= code_method_key(method_id, 0) ? item : NULL;
}

/* The region of a method id that came last, or NULL. */
static inline const struct cow_item *code_method_last(const struct code_map *map,
						      uint32_t method_id)
{
	return code_method_before(map, method_id, code_method_key(method_id, UINT32_MAX));
}

#endif
