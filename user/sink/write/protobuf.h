/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A writer of protobuf messages. Zero-initialized is empty; the owner calls
 * protobuf_deinit(). Running out of memory is remembered, so that only
 * protobuf_write() needs to be asked.
 */
#ifndef JITBPF_SINK_WRITE_PROTOBUF_H
#define JITBPF_SINK_WRITE_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/vec.h"

struct protobuf {
	VEC(uint8_t) bytes;
	bool failed; /* out of memory: what was put since is missing */
};

/* A member of any integer type that is not zigzag; of a signed one, its two's complement. */
void protobuf_put(struct protobuf *protobuf, uint32_t field, uint64_t value);

/* The same, left out where it is 0, which is what a reader then takes it for. */
void protobuf_put_nonzero(struct protobuf *protobuf, uint32_t field, uint64_t value);

/* A string, which has to be UTF-8, or bytes. */
void protobuf_put_bytes(struct protobuf *protobuf, uint32_t field, const void *bytes,
			size_t size_bytes);

/*
 * A member that is itself a message: what is put between the two calls belongs
 * to it. end is given what begin returned.
 */
size_t protobuf_begin(struct protobuf *protobuf, uint32_t field);
void protobuf_end(struct protobuf *protobuf, size_t begin);

/*
 * The values of a packed repeated member: it is begun and ended as a message
 * is, and has these in it instead of members.
 */
void protobuf_put_packed(struct protobuf *protobuf, uint64_t value);

/*
 * Write all of it, in which no message may be open, and begin anew. Returns 0,
 * -ENOMEM or the stream's negative errno.
 */
int protobuf_write(struct protobuf *protobuf, FILE *out);

void protobuf_deinit(struct protobuf *protobuf);

#endif
