/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Items of deltas (delta_format.h): numbers, texts, and the rows of lists. Only bytes are changed.
 */
#ifndef JITBPF_SINK_LIVE_DELTA_ITEMS_H
#define JITBPF_SINK_LIVE_DELTA_ITEMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "sink/sink.h"

/* Lists that only grow, in the order of their sections. */
enum delta_list {
	DELTA_STRINGS,
	DELTA_LOCATIONS,
	DELTA_NODES,
	DELTA_THREADS,
	DELTA_COUNTS,
	DELTA_ROWS,
	DELTA_LIST_COUNT
};

/* Where items are put. If memory is short, `failed` is set, and further items may be left out. */
struct delta_bytes {
	VEC(uint8_t) bytes;
	size_t max_bytes;
	bool failed; /* out of memory */
};

/* An array of uint64_t members of a struct, of which only those that are not 0 are put. */
struct delta_fields;

void delta_put_bytes(struct delta_bytes *out, const void *bytes, size_t size_bytes);
void delta_put(struct delta_bytes *out, uint64_t value);
void delta_put_text(struct delta_bytes *out, const char *text);
void delta_put_fields(struct delta_bytes *out, const void *object,
		      const struct delta_fields *fields, size_t field_count);

/*
 * Begin a number of items, which is written when it is known. Returns the place that
 * delta_items_end() needs.
 */
size_t delta_items_begin(struct delta_bytes *out);
void delta_items_end(struct delta_bytes *out, size_t begin, uint32_t count);

/* Returns true if no more items fit, or memory is short. */
bool delta_is_full(const struct delta_bytes *out);

/* Put the names of a location, and whether they are final. */
void delta_put_names(struct delta_bytes *out, const struct view *view, uint32_t location);

typedef void (*delta_put_fn)(struct delta_bytes *out, const struct view *view, uint32_t number);

/* Put the samples of a count that was sent before; put a row of the ledger. */
void delta_put_counted(struct delta_bytes *out, const struct view *view, uint32_t number);
void delta_put_row(struct delta_bytes *out, const struct view *view, uint32_t number);

/* Put the fates of a row of an event's ledger. */
void delta_put_fates(struct delta_bytes *out, const struct view *view, uint32_t number);

/* Returns the number of items of a list of the view; put one of them. */
size_t delta_list_size(const struct view *view, enum delta_list list);
void delta_put_item(enum delta_list list, struct delta_bytes *out, const struct view *view,
		    uint32_t number);

#endif
