/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The index of a code map's regions by method id. It is a tree of keys; a key is 32 bits of the id
 * (ids of 64 bits are folded) and a number that counts up. So regions of one id are in order of
 * arrival. Engines and publishers with the same id share these keys. A region has one entry per
 * claim.
 */
#ifndef JITBPF_STATE_CODE_CODE_METHODS_H
#define JITBPF_STATE_CODE_CODE_METHODS_H

#include "state/code/code_map_state.h"

/*
 * The number of regions of an id that are examined, latest first. A function has few parts; the
 * limit is for processes that load one id a million times.
 */
#define CODE_METHOD_REGIONS_MAX 4096 /* by an unload */
#define CODE_METHOD_PARTS_MAX	64   /* by a load, for the part before it */

/* Returns key number count of a method id. The last of the 2^32 keys is never used. */
static inline uint64_t code_method_key(uint64_t method_id, uint32_t count)
{
	return (method_id ^ method_id >> 32) << 32 | count;
}

/* Returns the last entry of a method id before the one at key, or NULL. */
static inline const struct cow_item *code_method_before(const struct code_map *map,
							uint64_t method_id, uint64_t key)
{
	const struct cow_item *item = NULL;

	if (key > code_method_key(method_id, 0))
		item = cow_tree_last(&map->methods, key - 1);
	return item && item->start >= code_method_key(method_id, 0) ? item : NULL;
}

/* Returns the last entry of a method id, or NULL. */
static inline const struct cow_item *code_method_last(const struct code_map *map,
						      uint64_t method_id)
{
	return code_method_before(map, method_id, code_method_key(method_id, UINT32_MAX));
}

/* Returns the claim of an entry, or NULL if its publisher or method id is another one. */
static inline const struct code_claim *code_method_claim(const struct cow_item *item,
							 uint64_t method_id,
							 enum jitbpf_publisher publisher)
{
	const struct code_claim *claim =
		code_region_claim(&code_record_of(item->value)->region, publisher);

	return claim && claim->method_key == item->start && claim->method_id == method_id ? claim
											  : NULL;
}

#endif
