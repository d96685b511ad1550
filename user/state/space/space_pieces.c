/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/space/space_pieces.h"

#include <string.h>

int space_pieces_begin(struct space_pieces *pieces, uint64_t start, uint64_t end, uint64_t to_ns)
{
	pieces->parts.size = 0;
	return vec_push(&pieces->parts, ((struct space_piece){start, end, to_ns}));
}

/* Split part i: inside [start, end) it ends at to_ns, outside it is unchanged. */
static int cut(struct space_pieces *pieces, size_t i, uint64_t start, uint64_t end, uint64_t to_ns)
{
	struct space_piece whole = pieces->parts.data[i], parts[3];
	size_t count = 0;

	if (whole.start < start)
		parts[count++] = (struct space_piece){whole.start, start, whole.to_ns};
	parts[count++] = (struct space_piece){whole.start > start ? whole.start : start,
					      whole.end < end ? whole.end : end, to_ns};
	if (whole.end > end)
		parts[count++] = (struct space_piece){end, whole.end, whole.to_ns};
	if (vec_reserve(&pieces->parts, pieces->parts.size + count - 1))
		return -ENOMEM;
	memmove(&pieces->parts.data[i + count], &pieces->parts.data[i + 1],
		(pieces->parts.size - i - 1) * sizeof(whole));
	memcpy(&pieces->parts.data[i], parts, count * sizeof(whole));
	pieces->parts.size += count - 1;
	return 0;
}

int space_pieces_yield(struct space_pieces *pieces, enum space_overlap overlap, uint64_t start,
		       uint64_t end, uint64_t from_ns)
{
	for (size_t i = pieces->parts.size; i-- && pieces->parts.data[i].end > start;) {
		struct space_piece *piece = &pieces->parts.data[i];
		int err = 0;

		if (piece->start >= end || piece->to_ns <= from_ns)
			continue;
		if (overlap == SPACE_END_WHOLE)
			piece->to_ns = from_ns;
		else
			err = cut(pieces, i, start, end, from_ns);
		if (err)
			return err;
	}
	return 0;
}
