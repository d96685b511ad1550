/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "locate/location.h"

#include <errno.h>

#include "base/hash.h"
#include "base/intern.h"

static bool equal(const void *items, uint32_t item, const void *key)
{
	const struct location *a = (const struct location *)items + item, *b = key;

	return a->kind == b->kind && a->is_interpreter == b->is_interpreter &&
	       a->owner == b->owner && a->offset == b->offset;
}

/* Holders of a value change its base, whatever they may not change in the value. */
static struct space_value *held(const struct location *location)
{
	return (struct space_value *)location->code;
}

static uint64_t hash_of(const void *locations, uint32_t number)
{
	const struct location *location = (const struct location *)locations + number;

	return hash_mix(hash_mix(location->owner,
				 (uint64_t)location->is_interpreter << 32 | location->kind),
			location->offset);
}

bool location_base(const struct location *location, uint64_t *ret)
{
	uint64_t base = 0;

	if ((location->kind == LOCATION_JIT || location->kind == LOCATION_KERNEL_CODE) &&
	    !location->code)
		return false;
	if (location->kind == LOCATION_JIT)
		base = ((const struct code_region *)location->code)->address;
	else if (location->kind == LOCATION_KERNEL_CODE)
		base = ((const struct kernel_code *)location->code)->address;
	*ret = base;
	return true;
}

uint32_t location_table_find(const struct location_table *table, const struct location *location)
{
	return item_index_find(&table->index, hash_of(location, 0), equal, table->locations.data,
			       location);
}

int location_table_add(struct location_table *table, const struct location *location, uint32_t *ret)
{
	int added;

	if (location->code)
		held(location)->sampled = true;
	added = vec_intern_item_in(&table->room, LOCATION_BYTES, &table->locations, &table->index,
				   hash_of(location, 0), hash_of, equal, location, ret);

	if (added > 0) {
		table->locations.data[*ret].payer = table->payer;
		table->interpreters += location->is_interpreter;
		if (location->code)
			space_value_get(held(location));
	}
	return added < 0 ? added : 0;
}

void location_table_deinit(struct location_table *table)
{
	vec_for_each (location, &table->locations)
		space_value_put(held(location));
	vec_deinit(&table->locations);
	item_index_deinit(&table->index);
}
