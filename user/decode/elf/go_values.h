/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A table of values by address, of a function of Go: pairs of a difference of the value and the
 * number of bytes of code for which it holds.
 */
#ifndef JITBPF_DECODE_ELF_GO_VALUES_H
#define JITBPF_DECODE_ELF_GO_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "base/blob.h"

#define GO_VALUES_BYTES_MAX   (64u << 10) /* of a table */
#define GO_VALUES_PIECE_BYTES 512

struct go_values {
	const struct blob *blob; /* borrowed */
	uint64_t at, blob_end;	 /* what is not read yet */
	uint8_t piece[GO_VALUES_PIECE_BYTES];
	size_t used, filled;
	/* the current range; offsets are relative to the function */
	int32_t value;
	uint64_t start, end;
};

/* Begin a table at an offset of the blob. The table ends before `end`, another offset. */
struct go_values go_values_begin(const struct blob *blob, uint64_t offset, uint64_t end);

/*
 * Move to the next range. Returns 1; 0 at the end; -EBADMSG (damaged, or over GO_VALUES_BYTES_MAX);
 * or the blob's error.
 */
int go_values_next(struct go_values *values);

#endif
