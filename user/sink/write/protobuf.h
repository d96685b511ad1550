/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A writer of protobuf messages. Empty if zero-initialized; the owner calls protobuf_deinit(). Out
 * of memory is noted, and returned by protobuf_write().
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
	bool failed; /* out of memory; the message is incomplete */
};

/* Put a field of an integer type other than sint; negative values in two's complement. */
void protobuf_put(struct protobuf *protobuf, uint32_t field, uint64_t value);

/* The same, but nothing for 0, the default that readers assume. */
void protobuf_put_nonzero(struct protobuf *protobuf, uint32_t field, uint64_t value);

/* Put a field of bytes, or a string, which must be UTF-8. */
void protobuf_put_bytes(struct protobuf *protobuf, uint32_t field, const void *bytes,
			size_t size_bytes);

/*
 * Put a field that is a message, with the fields that are put between the two calls. `begin` is the
 * result of protobuf_begin().
 */
size_t protobuf_begin(struct protobuf *protobuf, uint32_t field);
void protobuf_end(struct protobuf *protobuf, size_t begin);

/*
 * Put a value of a packed repeated field, between protobuf_begin() and protobuf_end() of the field.
 */
void protobuf_put_packed(struct protobuf *protobuf, uint64_t value);

/*
 * Write the message to out, and empty it. All inner messages have ended. Returns 0, -ENOMEM or the
 * negative errno of the stream.
 */
int protobuf_write(struct protobuf *protobuf, FILE *out);

void protobuf_deinit(struct protobuf *protobuf);

#endif
