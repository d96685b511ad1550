/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unsigned LEB128, which protobuf calls a varint: seven bits in each byte, low ones first. The top
 * bit of a byte is set if another byte follows.
 */
#ifndef JITBPF_BASE_LEB128_H
#define JITBPF_BASE_LEB128_H

#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"

#define LEB128_BYTES_MAX 10 /* of 64 bits */

/* Returns the number of bytes that were written. */
static inline size_t leb128_write(uint64_t value, uint8_t bytes[LEB128_BYTES_MAX])
{
	size_t size = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[size++] = (uint8_t)(value | 0x80);
	bytes[size++] = (uint8_t)value;
	return size;
}

/*
 * Returns 0, or -EBADMSG if the bytes end or the encoding is longer than 10 bytes.
 * Bits above the 64th are dropped.
 */
static inline int leb128_read(struct cursor *c, uint64_t *ret)
{
	const uint8_t *at = c->at;
	uint64_t value = 0;

	/* Fast path: most values take one byte. */
	if (at < c->end && *at < 0x80) {
		*ret = *at;
		c->at++;
		return 0;
	}
	for (unsigned shift = 0; at < c->end && shift < 64; shift += 7) {
		uint8_t byte = *at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			c->at = at;
			*ret = value;
			return 0;
		}
	}
	return -EBADMSG;
}

#endif
