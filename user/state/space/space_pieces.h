/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A range that is being inserted into a space map, as the parts of it that end at different
 * times. Usually there is one part, which is in force. If the insertion is late, entries that
 * came into force after it end the parts that they overlap.
 */
#ifndef JITBPF_STATE_SPACE_SPACE_PIECES_H
#define JITBPF_STATE_SPACE_SPACE_PIECES_H

#include <stdint.h>

#include "base/vec.h"

enum space_overlap {
	SPACE_END_WHOLE, /* an entry that is overlapped ends as a whole (code) */
	SPACE_CUT,	 /* the parts that are not overlapped stay in force (mappings) */
};

struct space_piece {
	uint64_t start, end;
	uint64_t to_ns; /* UINT64_MAX: still in force */
};

/* Empty if zero-initialized. The owner calls vec_deinit() on parts. */
struct space_pieces {
	VEC(struct space_piece) parts; /* by address */
};

/* Begin with the whole range as one part that ends at to_ns. Returns 0 or -ENOMEM. */
int space_pieces_begin(struct space_pieces *pieces, uint64_t start, uint64_t end, uint64_t to_ns);

/* End the parts that an entry over [start, end) overlaps from from_ns on. Returns 0 or -ENOMEM. */
int space_pieces_yield(struct space_pieces *pieces, enum space_overlap overlap, uint64_t start,
		       uint64_t end, uint64_t from_ns);

#endif
