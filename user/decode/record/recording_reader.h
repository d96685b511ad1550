/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads a recording: gives back, one by one, the records that its source
 * handed to the pipeline (samples with their stacks put back), and the chunks
 * that only recordings have. A round is given out only after its checksum held,
 * so that damage never reaches the pipeline, and what precedes it does.
 */
#ifndef JITBPF_DECODE_RECORD_RECORDING_READER_H
#define JITBPF_DECODE_RECORD_RECORDING_READER_H

#include <stdint.h>

#include "base/blob.h"
#include "uapi/recording.h"

/* Where and why reading ended early. */
struct recording_error {
	uint64_t offset;  /* in the file, of what could not be read */
	const char *what; /* static words: "checksum of the round does not match" */
};

struct recording_reader; /* see recording_reader.c */

/*
 * Check the file header. Borrows blob, which outlives the reader.
 * Returns 0, -ENOMEM, the blob's error, or -EBADMSG (not a recording, or of a
 * later version) with *error set.
 */
int recording_reader_open(const struct blob *blob, struct recording_reader **ret,
			  struct recording_error *error);
void recording_reader_close(struct recording_reader *reader);

/*
 * The next record, in the file's order; it is whole, of at least the size that
 * its type wants, its strings NUL-terminated inside. Types: those of
 * uapi/record.h, INFO (the first record, and no other), ROUND and FRAMES (whose
 * parts symbolize/recorded_frames.h checks). *ret is good until the next call,
 * and 8-byte aligned.
 *
 * Returns 1 with *ret set; 0 at a proper end; -ENOMEM; the blob's error; or
 * -EBADMSG with *error set (damaged, or cut: no END). After an error or the
 * end, goes on returning it.
 */
int recording_reader_next(struct recording_reader *reader, const struct jitbpf_record **ret,
			  struct recording_error *error);

/*
 * The file's version: 1 holds the source's records as they came, 2 holds finished records in
 * emission order (uapi/recording.h).
 */
uint32_t recording_reader_version(const struct recording_reader *reader);

/* Chunks of types that are not known, skipped so far. */
uint64_t recording_reader_skipped(const struct recording_reader *reader);

#endif
