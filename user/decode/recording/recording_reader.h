/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads a recording (uapi/recording.h) record by record. Samples are returned with their stacks. A
 * chunk is returned only after the checksum of its segment was verified, so all chunks before a
 * damaged segment can be used.
 */
#ifndef JITBPF_DECODE_RECORDING_RECORDING_READER_H
#define JITBPF_DECODE_RECORDING_RECORDING_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/blob.h"
#include "uapi/recording.h"

/* The place and reason of an error. */
struct recording_error {
	uint64_t offset;  /* file offset of the segment that could not be read */
	const char *what; /* static text: "checksum of the segment does not match" */
};

struct recording_reader; /* see recording_reader.c */

/*
 * Check the file header. Borrows blob, which outlives the reader.
 * Returns 0, -ENOMEM, the blob's error, or -EBADMSG (not a recording, or of
 * another version) with *error set.
 */
int recording_reader_open(const struct blob *blob, struct recording_reader **ret,
			  struct recording_error *error);
void recording_reader_close(struct recording_reader *reader);

/*
 * Read the next record, in the order of the file. It has at least the size that its type requires,
 * and its strings end inside it. Types are those of uapi/record.h, INFO (only as the first record),
 * ROUND, and FRAMES, whose contents symbolize/recorded_frames.h checks. *ret is 8-byte aligned and
 * valid until the next call.
 *
 * Returns 1 with *ret set; 0 after END; -ENOMEM; the blob's error; or -EBADMSG with *error set
 * (damaged, or cut before END). Later calls return the same error or end.
 */
int recording_reader_next(struct recording_reader *reader, const struct jitbpf_record **ret,
			  struct recording_error *error);

/* Returns true if the description of the run (INFO) was read. */
bool recording_reader_has_info(const struct recording_reader *reader);

/* Returns the number of chunks of unknown types that were skipped so far. */
uint64_t recording_reader_skipped(const struct recording_reader *reader);

#endif
