/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A column of numbers as the page reads it fast: LEB128 bytes, seven bits each,
 * low ones first, the top bit set where more follow; all of them in base64.
 * Zero-initialized is empty; the owner calls page_column_deinit(). Running out
 * of memory is remembered until it is written.
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

/* Write it as a member of an object, and begin anew. Returns 0 or -ENOMEM. */
int page_column_write(struct page_column *column, struct json *json, const char *key);

void page_column_deinit(struct page_column *column);

#endif
