/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records kept until all up to some time are there, then gone through in order
 * of time; at one time, in the order in which they came. Zero-initialized is empty.
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
	round_bytes later; /* within round_buffer_drain(): the bytes of what stays */
};

struct round_entry {
	uint64_t time_ns;
	uint64_t offset; /* of its bytes */
};

/* Copy a whole record, to be handed over as of time_ns. Returns 0 or -ENOMEM. */
int round_buffer_add(struct round_buffer *buffer, uint64_t time_ns,
		     const struct jitbpf_record *record);

/*
 * Hand over all that is not later than until_ns, in order, 8-byte aligned. What
 * is later stays for another time; but where there is no memory to put it aside,
 * it is handed over too. Returns 0, or take's first error: then all is dropped.
 */
int round_buffer_drain(struct round_buffer *buffer, uint64_t until_ns,
		       int (*take)(void *context, const struct jitbpf_record *record),
		       void *context);

void round_buffer_deinit(struct round_buffer *buffer);

#endif
