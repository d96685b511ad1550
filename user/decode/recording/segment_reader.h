/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the segments of a recording (uapi/packed_recording.h). Bytes are decompressed only after
 * their checksum was verified.
 */
#ifndef JITBPF_DECODE_RECORDING_SEGMENT_READER_H
#define JITBPF_DECODE_RECORDING_SEGMENT_READER_H

#include <stdint.h>

#include "base/blob.h"
#include "base/cursor.h"
#include "base/vec.h"
#include "uapi/packed_recording.h"

struct ZSTD_DCtx_s;

struct segment_reader {
	const struct blob *blob; /* borrowed */
	uint64_t begin, end;	 /* file offsets of the current segment, with its head */
	uint32_t crc;		 /* of the bytes before end, without the CRCs */
	struct ZSTD_DCtx_s *zstd;
	VEC(uint8_t) packed;
	VEC(uint8_t) content;
};

/*
 * Begin behind the file header, which has header_bytes. Borrows blob. Returns 0, -ENOMEM, or the
 * blob's error. After a failure, too, the caller calls segment_reader_deinit().
 */
int segment_reader_init(struct segment_reader *reader, const struct blob *blob,
			uint32_t header_bytes);
void segment_reader_deinit(struct segment_reader *reader);

/*
 * Read the next segment. The lanes are valid until the next call. Returns 0, -ENOMEM, the blob's
 * error, or -EBADMSG with *what set to the reason: no whole segment follows, or the segment is
 * damaged.
 */
int segment_next(struct segment_reader *reader, struct cursor lanes[JITBPF_LANE_COUNT],
		 const char **what);

/* Returns true if no bytes follow the current segment. */
static inline bool segment_is_last(const struct segment_reader *reader)
{
	return reader->end == reader->blob->size_bytes;
}

#endif
