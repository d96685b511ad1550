/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A range that is being inserted into a space map, and how long which part of
 * it is in force. Usually that is one part, to this day. Where the range comes
 * late, what came into force after it takes parts away.
 */
#ifndef JITBPF_STATE_SPACE_SPACE_PIECES_H
#define JITBPF_STATE_SPACE_SPACE_PIECES_H

#include <stdint.h>

#include "base/vec.h"

enum space_overlap {
	SPACE_END_WHOLE, /* an entry that is hit ends as a whole (code) */
	SPACE_CUT,	 /* what is not covered goes on, with the same value (mappings) */
};

struct space_piece {
	uint64_t start, end;
	uint64_t to_ns; /* UINT64_MAX: in force still */
};

/* Zero-initialized is empty; the owner calls vec_deinit() on parts. */
struct space_pieces {
	VEC(struct space_piece) parts; /* by address */
};

/* Begin with the whole range, in force until to_ns. Returns 0 or -ENOMEM. */
int space_pieces_begin(struct space_pieces *pieces, uint64_t start, uint64_t end, uint64_t to_ns);

/* Account for what came into force over [start, end) at from_ns. Returns 0 or -ENOMEM. */
int space_pieces_yield(struct space_pieces *pieces, enum space_overlap overlap, uint64_t start,
		       uint64_t end, uint64_t from_ns);

#endif
