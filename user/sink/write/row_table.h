/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A set of rows of one size, numbered in order of appearance, for formats that consist of tables.
 * Rows are compared byte by byte, so they must not have padding.
 */
#ifndef JITBPF_SINK_WRITE_ROW_TABLE_H
#define JITBPF_SINK_WRITE_ROW_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/index_map.h"

#define ROW_NONE UINT32_MAX /* not a row number */

/* Empty if only row_bytes is set. */
struct row_table {
	size_t row_bytes;
	uint8_t *bytes;
	size_t capacity_bytes;
	uint32_t count;
	struct index_map index;
};

/* Find or add a row. Returns 0 with its number in *ret, or -ENOMEM. */
int row_table_add(struct row_table *table, const void *row, uint32_t *ret);

/* Returns an existing row, borrowed until the next one is added. */
static inline const void *row_table_get(const struct row_table *table, uint32_t number)
{
	return table->bytes + number * table->row_bytes;
}

void row_table_deinit(struct row_table *table);

#endif
