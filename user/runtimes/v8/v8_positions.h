/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Decodes V8's table of positions in the source for offsets of bytecode. Pure code. */
#ifndef JITBPF_RUNTIMES_V8_V8_POSITIONS_H
#define JITBPF_RUNTIMES_V8_V8_POSITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct v8_positions {
	const uint8_t *at, *end;
	int64_t offset, position; /* of the last entry */
};

/* The table is borrowed. */
struct v8_positions v8_positions_of(const uint8_t *table, size_t size_bytes);

/*
 * Get the next entry: from *ret_offset on, the bytecode is at *ret_position of the source. Offset
 * -1 is the entry of the function. Returns 1, 0 at the end, or -EBADMSG.
 */
int v8_positions_next(struct v8_positions *table, int32_t *ret_offset, int32_t *ret_position);

#endif
