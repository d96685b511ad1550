/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/write/row_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

static bool equal(const void *table_, uint32_t item, const void *key)
{
	const struct row_table *table = table_;

	return !memcmp(row_table_get(table, item), key, table->row_bytes);
}

int row_table_add(struct row_table *table, const void *row, uint32_t *ret)
{
	uint64_t hash = hash_bytes(row, table->row_bytes, 0);
	uint32_t number = index_map_find(&table->index, hash, equal, table, row);
	size_t end = (table->count + (size_t)1) * table->row_bytes;

	if (number == INDEX_MAP_NONE) {
		if (table->count >= ROW_NONE - 1 ||
		    vec_grow_((void **)&table->bytes, &table->capacity_bytes, end, 1))
			return -ENOMEM;
		number = table->count;
		if (index_map_insert(&table->index, hash, number))
			return -ENOMEM;
		memcpy(table->bytes + number * table->row_bytes, row, table->row_bytes);
		table->count++;
	}
	*ret = number;
	return 0;
}

void row_table_deinit(struct row_table *table)
{
	free(table->bytes);
	table->bytes = NULL;
	table->capacity_bytes = 0;
	table->count = 0;
	index_map_deinit(&table->index);
}
