/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Integers of DWARF, read from a cursor. The functions return 0, or -EBADMSG if the value is cut.
 */
#ifndef JITBPF_DECODE_DWARF_DWARF_DATA_H
#define JITBPF_DECODE_DWARF_DWARF_DATA_H

#include "base/cursor.h"
#include "base/leb128.h"

/* Read an unsigned little-endian integer of 1 to 8 bytes. */
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

/* Read an SLEB128, as leb128_read() does an unsigned one. */
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
 * Read the initial length of a unit, a line program or a list.
 * *ret_offset_bytes is 4 for 32-bit DWARF and 8 for 64-bit DWARF.
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
