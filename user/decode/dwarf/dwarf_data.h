/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The numbers of DWARF, read from a cursor: 0 or -EBADMSG, as those of the cursor itself. */
#ifndef JITBPF_DECODE_DWARF_DWARF_DATA_H
#define JITBPF_DECODE_DWARF_DWARF_DATA_H

#include "base/cursor.h"

/* An unsigned number of 1 to 8 bytes. */
static inline int dwarf_read_uint(struct cursor *c, size_t size_bytes, uint64_t *ret)
{
	uint64_t value = 0;
	int err = cursor_read(c, &value, size_bytes);

	if (!err)
		*ret = value;
	return err;
}

static inline int dwarf_read_u8(struct cursor *c, uint8_t *ret)
{
	return cursor_read(c, ret, 1);
}

/* ULEB128. Bits past the 64th are lost, and nothing longer than 64 bits can say is one. */
static inline int dwarf_read_uleb(struct cursor *c, uint64_t *ret)
{
	const uint8_t *at = c->at;
	uint64_t value = 0;

	/* Most are small. */
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

static inline int dwarf_read_sleb(struct cursor *c, int64_t *ret)
{
	const uint8_t *at = c->at;
	uint64_t value = 0;

	for (unsigned shift = 0; at < c->end && shift < 64; shift += 7) {
		uint8_t byte = *at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			if (byte & 0x40 && shift + 7 < 64)
				value |= UINT64_MAX << (shift + 7);
			c->at = at;
			*ret = (int64_t)value;
			return 0;
		}
	}
	return -EBADMSG;
}

/*
 * The length that a unit, a line program or a list begins with; *ret_offset_bytes
 * is 4, or 8 where it says so (64-bit DWARF).
 */
static inline int dwarf_read_length(struct cursor *c, uint64_t *ret, uint8_t *ret_offset_bytes)
{
	struct cursor before = *c;
	uint64_t length;

	if (dwarf_read_uint(c, 4, &length))
		return -EBADMSG;
	*ret_offset_bytes = 4;
	if (length == 0xffffffff) {
		*ret_offset_bytes = 8;
		if (dwarf_read_uint(c, 8, &length)) {
			*c = before;
			return -EBADMSG;
		}
	} else if (length >= 0xfffffff0) {
		*c = before;
		return -EBADMSG;
	}
	*ret = length;
	return 0;
}

#endif
