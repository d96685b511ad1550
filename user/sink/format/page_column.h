/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A column of numbers in the page's data: unsigned LEB128 (base/leb128.h) in base64. An empty
 * column is zero-initialized; the owner calls page_column_deinit(). Out of memory is noted, and
 * returned by page_column_write().
 */
#ifndef JITBPF_SINK_FORMAT_PAGE_COLUMN_H
#define JITBPF_SINK_FORMAT_PAGE_COLUMN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "sink/write/json.h"

struct page_column {
	VEC(uint8_t) bytes;
	bool failed;
};

void page_column_put(struct page_column *column, uint64_t value);

/* Write the column as a member of an object, and empty it. Returns 0 or -ENOMEM. */
int page_column_write(struct page_column *column, struct json *json, const char *key);

void page_column_deinit(struct page_column *column);

/* Begin a table, an object of columns that have `rows` items. The caller ends it. */
void page_column_begin_table(struct json *json, const char *key, uint64_t rows);

/* Write a column whose items are `expression`, for i in [0, count). */
#define PAGE_COLUMN_WRITE(column, json, key, count, expression)                                    \
	({                                                                                         \
		for (uint32_t i = 0; i < (count); i++)                                             \
			page_column_put(column, (expression));                                     \
		page_column_write(column, json, key);                                              \
	})

#endif
