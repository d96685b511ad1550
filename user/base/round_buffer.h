/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records kept until all of a round are there, then gone through in order of
 * time; at one time, in the order in which they came. Zero-initialized is empty.
 */
#ifndef JITBPF_BASE_ROUND_BUFFER_H
#define JITBPF_BASE_ROUND_BUFFER_H

#include <stdint.h>

#include "base/vec.h"
#include "uapi/record.h"

struct round_buffer {
	VEC(uint8_t) bytes;
	VEC(struct round_entry) entries;
};

struct round_entry {
	uint64_t time_ns;
	uint64_t offset; /* of its bytes */
};

/* Copy a whole record. Returns 0 or -ENOMEM. */
int round_buffer_add(struct round_buffer *buffer, const struct jitbpf_record *record);

/*
 * Hand over all in order, 8-byte aligned, and be empty. Returns 0, or take's
 * first error, behind which the rest is dropped.
 */
int round_buffer_drain(struct round_buffer *buffer,
		       int (*take)(void *context, const struct jitbpf_record *record),
		       void *context);

void round_buffer_deinit(struct round_buffer *buffer);

#endif
