/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A buffer that orders records by time. Records are added in any order and
 * delivered once all records up to some time have arrived. Records of equal
 * time keep their order of arrival. A zero-initialized buffer is empty.
 */
#ifndef JITBPF_BASE_ROUND_BUFFER_H
#define JITBPF_BASE_ROUND_BUFFER_H

#include <stdint.h>

#include "base/vec.h"
#include "uapi/record.h"

typedef VEC(uint8_t) round_bytes;

struct round_buffer {
	round_bytes bytes;
	VEC(struct round_entry) entries;
	/* What earlier drains have left: the first entries and bytes, in order of arrival. */
	size_t left_entries, left_bytes;
	uint64_t left_ns; /* the earliest time of these */
};

struct round_entry {
	uint64_t time_ns;
	uint64_t offset; /* of the record in `bytes` */
};

/* Add a copy of a record, to be delivered at time_ns. Returns 0 or -ENOMEM. */
int round_buffer_add(struct round_buffer *buffer, uint64_t time_ns,
		     const struct jitbpf_record *record);

/*
 * Add a record of size_bytes, to be delivered at time_ns. Returns its memory, 8-byte aligned, or
 * NULL (no memory). The caller writes the record, with that size, before the next call.
 */
struct jitbpf_record *round_buffer_place(struct round_buffer *buffer, uint64_t time_ns,
					 uint32_t size_bytes);

/*
 * Deliver all records up to and including until_ns, in order of time, each
 * 8-byte aligned. Later records stay in the buffer, and cost nothing before their
 * time. Returns 0 or the first error of take(), in which case the buffer is emptied.
 */
int round_buffer_drain(struct round_buffer *buffer, uint64_t until_ns,
		       int (*take)(void *context, const struct jitbpf_record *record),
		       void *context);

void round_buffer_deinit(struct round_buffer *buffer);

#endif
