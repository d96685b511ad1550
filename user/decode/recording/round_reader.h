/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the chunks of a recording of version 1 or 2 (uapi/recording.h). The chunks of a round are
 * returned only after its checksum was verified.
 */
#ifndef JITBPF_DECODE_RECORDING_ROUND_READER_H
#define JITBPF_DECODE_RECORDING_ROUND_READER_H

#include <stdint.h>

#include "base/blob.h"
#include "base/vec.h"
#include "decode/recording/stack_store.h"

struct round_reader {
	const struct blob *blob; /* borrowed */
	uint64_t round_begin;	 /* start of the bytes of the next checksum */
	uint64_t round_end;	 /* end of the verified chunks */
	uint64_t at;		 /* offset of the next chunk */
	uint64_t chunk_begin;	 /* offset of the last chunk */

	/* A window of the file, so that small chunks do not need a read each. */
	VEC(uint8_t) window;
	uint64_t window_begin;

	VEC(uint64_t) record; /* the last chunk; 64-bit words for alignment */
	struct stack_store stacks;

	/* Set with -EBADMSG. */
	uint64_t error_offset;
	const char *error_what;
};

/* Begin behind the file header, which has header_bytes. Borrows blob. */
void round_reader_init(struct round_reader *reader, const struct blob *blob, uint32_t header_bytes);
void round_reader_deinit(struct round_reader *reader);

/*
 * Read the next chunk; a SAMPLE_REF becomes a sample with its stack, and no STACK is returned.
 * Other chunks are not checked. Returns 1 with the chunk in reader->record, 0 at END, -ENOMEM, the
 * blob's error, or -EBADMSG.
 */
int round_reader_next(struct round_reader *reader);

#endif
