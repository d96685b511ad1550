/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A delta that is being applied (delta_reader.h): numbers and items from untrusted bytes, and what
 * they cost. For the files of the reader only.
 */
#ifndef JITBPF_SINK_LIVE_DELTA_READING_H
#define JITBPF_SINK_LIVE_DELTA_READING_H

#include <errno.h>

#include "base/cursor.h"
#include "base/leb128.h"
#include "sink/live/delta_reader.h"

struct delta_fields;
struct delta_header;

/* After an error, reads return 0 and nothing is added. */
struct delta_reading {
	struct cursor at; /* in the delta */
	struct delta_profile *profile;
	struct delta_samples *to;  /* of the event whose samples are taken */
	struct delta_event *event; /* from event 1 on */
	int error;
};

static inline void delta_fail(struct delta_reading *r, int err)
{
	if (!r->error)
		r->error = err;
}

static inline uint64_t delta_take(struct delta_reading *r)
{
	uint64_t value = 0;

	if (!r->error)
		delta_fail(r, leb128_read(&r->at, &value));
	return r->error ? 0 : value;
}

/* Take a number, which must be below limit. Returns 0 after an error. */
static inline uint32_t delta_take_below(struct delta_reading *r, uint64_t limit)
{
	uint64_t value = delta_take(r);

	if (value < limit)
		return (uint32_t)value;
	delta_fail(r, -EBADMSG);
	return 0;
}

static inline uint32_t delta_take_u32(struct delta_reading *r)
{
	return delta_take_below(r, 1ull << 32);
}

static inline uint32_t delta_take_string_number(struct delta_reading *r)
{
	return delta_take_below(r, string_pool_size(r->profile->strings));
}

/* Charge memory of the profile to the limit of the reader. */
static inline void delta_charge(struct delta_reading *r, size_t size_bytes)
{
	struct delta_profile *p = r->profile;

	if (p->max_bytes - p->used_bytes < size_bytes)
		delta_fail(r, -E2BIG);
	else
		p->used_bytes += size_bytes;
}

/* Add an item to a list of the profile. Numbers of items fit in 32 bits. */
#define DELTA_ADD(r, list, item)                                                                   \
	do {                                                                                       \
		__typeof__(*(list)->data) add_ = (item);                                           \
		delta_charge(r, sizeof(add_));                                                     \
		if ((list)->size >= UINT32_MAX - 1)                                                \
			delta_fail(r, -EBADMSG);                                                   \
		if (!(r)->error && vec_push(list, add_))                                           \
			delta_fail(r, -ENOMEM);                                                    \
	} while (0)

/* --- delta_reading_samples.c ---------------------------------------------------------- */

/* Take a text without NUL bytes. Returns it, borrowed from the delta; NULL after an error. */
const char *delta_take_text(struct delta_reading *r, size_t *ret_bytes);

/* Take the counts of a struct, of which those that are 0 are left out. */
void delta_take_fields(struct delta_reading *r, void *object, const struct delta_fields *fields,
		       size_t field_count);

/* Take the items of a section; those of a list of `size` items that have changed, each by its step.
 */
void delta_take_items(struct delta_reading *r, void (*take_item)(struct delta_reading *r));
void delta_take_changed(struct delta_reading *r, size_t size,
			void (*take_item)(struct delta_reading *r, uint32_t number));

/* Take nodes, threads and counts; take changed counts. */
void delta_take_samples(struct delta_reading *r);
void delta_take_counted(struct delta_reading *r);

void delta_samples_deinit(struct delta_samples *samples);

/* --- delta_reading_time.c: samples by time, and JIT code by time ------------------------ */

void delta_take_slices(struct delta_reading *r);
void delta_take_code(struct delta_reading *r);

/* --- delta_reading_events.c --------------------------------------------------------------- */

/* Take the samples of events from 1 on. */
void delta_take_events(struct delta_reading *r, const struct delta_header *header);

/* Take their totals, once those of CPU time are taken. */
void delta_complete_events(struct delta_reading *r);

void delta_events_deinit(struct delta_profile *profile);

#endif
