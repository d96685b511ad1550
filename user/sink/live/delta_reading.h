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

/* After an error, reads return 0 and nothing is added. */
struct delta_reading {
	struct cursor at; /* in the delta */
	struct delta_profile *profile;
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

/* Samples by time, and JIT code by time: delta_reading_time.c. */
void delta_take_slices(struct delta_reading *r);
void delta_take_code(struct delta_reading *r);

#endif
