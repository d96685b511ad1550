/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unpacks the chunks of segments (uapi/packed_recording.h). Memory is bounded by the limits there.
 * Empty if zero-initialized. The owner calls record_unpacker_deinit().
 */
#ifndef JITBPF_DECODE_RECORDING_RECORD_UNPACKER_H
#define JITBPF_DECODE_RECORDING_RECORD_UNPACKER_H

#include <stdint.h>

#include "base/cursor.h"
#include "base/vec.h"
#include "decode/recording/sample_state.h"
#include "decode/recording/word_columns.h"

struct record_unpacker {
	struct word_rows rows;
	struct sample_state samples;
	uint64_t time_ns;     /* of the last chunk */
	VEC(uint64_t) record; /* the last one; 64-bit words for alignment */
};

/*
 * Unpack the next chunk from the lanes of a segment. Samples are returned with all frames. INFO,
 * THREAD and FRESH chunks are applied to the state. The contents of a chunk are not checked.
 * Returns 1 with the chunk in unpacker->record; 0 at the end of the lanes; -ENOMEM; or -EBADMSG
 * with *what set.
 */
int record_unpack(struct record_unpacker *unpacker, struct cursor lanes[JITBPF_LANE_COUNT],
		  const char **what);

void record_unpacker_deinit(struct record_unpacker *unpacker);

/* --- for sample_unpacker.c ------------------------------------------------------ */

/* Read a number of at most max. Returns 0 or -EBADMSG. */
int lane_read(struct cursor *lane, uint64_t max, uint64_t *ret);

/* Read the words of a run into words, which may be unaligned. Returns 0 or -EBADMSG. */
int words_unpack(struct word_rows *rows, struct cursor lanes[JITBPF_LANE_COUNT], uint8_t type,
		 bool first, uint64_t time_ns, uint32_t count, void *words);

#endif
