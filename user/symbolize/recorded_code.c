/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/recorded_code.h"

#include <string.h>

#include "base/hash.h"

static bool equal(const void *items, uint32_t item, const void *key)
{
	return ((const struct recorded_region *)items)[item].identity == *(const uint64_t *)key;
}

static uint64_t hash_of(uint64_t identity)
{
	return hash_mix(identity, 3);
}

const struct recorded_region *recorded_code_find(const struct recorded_code *code,
						 uint64_t identity)
{
	uint32_t item = index_map_find(&code->index, hash_of(identity), equal, code->regions.data,
				       &identity);

	return item == INDEX_MAP_NONE ? NULL : &code->regions.data[item];
}

int recorded_code_add(struct recorded_code *code, uint64_t identity, const void *bytes,
		      uint32_t size_bytes)
{
	struct recorded_region added = {.identity = identity, .size_bytes = size_bytes};
	uint64_t charge = RECORDED_CODE_CHARGE + size_bytes;

	if (recorded_code_find(code, identity))
		return 0;
	if (charge > RECORDED_CODE_BYTES_MAX - code->bytes) {
		code->left_out++;
		return 0;
	}
	if (vec_reserve(&code->regions, code->regions.size + 1))
		return -ENOMEM;
	added.bytes = malloc(size_bytes ?: 1);
	if (!added.bytes ||
	    index_map_insert(&code->index, hash_of(identity), (uint32_t)code->regions.size)) {
		free(added.bytes);
		return -ENOMEM;
	}
	memcpy(added.bytes, bytes, size_bytes);
	code->bytes += charge;
	return vec_push(&code->regions, added);
}

void recorded_code_deinit(struct recorded_code *code)
{
	vec_for_each (region, &code->regions)
		free(region->bytes);
	vec_deinit(&code->regions);
	index_map_deinit(&code->index);
}
