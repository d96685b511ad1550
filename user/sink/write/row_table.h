/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of one size, each kept once, known by number in order of appearance:
 * what formats that consist of tables are made of. Rows are compared byte by
 * byte, so that they must have no padding.
 */
#ifndef JITBPF_SINK_WRITE_ROW_TABLE_H
#define JITBPF_SINK_WRITE_ROW_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/index_map.h"

#define ROW_NONE UINT32_MAX /* no row's number */

/* With row_bytes set and all else zero it is empty. */
struct row_table {
	size_t row_bytes;
	uint8_t *bytes;
	size_t capacity_bytes;
	uint32_t count;
	struct index_map index;
};

/* The number of a row, added where it is new. Returns 0 and sets *ret, or -ENOMEM. */
int row_table_add(struct row_table *table, const void *row, uint32_t *ret);

/* A row that is there: borrowed until the next is added. */
static inline const void *row_table_get(const struct row_table *table, uint32_t number)
{
	return table->bytes + number * table->row_bytes;
}

void row_table_deinit(struct row_table *table);

#endif
