/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the bytes of a recording, with checksums. After the first error, nothing more is written,
 * and all functions return that error.
 */
#ifndef JITBPF_PIPELINE_RECORD_CHUNK_WRITER_H
#define JITBPF_PIPELINE_RECORD_CHUNK_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "uapi/recording.h"

struct chunk_writer {
	FILE *out;	/* borrowed */
	uint32_t crc;	/* of the bytes since the last ROUND chunk */
	uint64_t bytes; /* written so far */
	int error;	/* the first, negative errno */
};

/* Write bytes. Returns 0, or the first error. */
int chunk_put(struct chunk_writer *writer, const void *bytes, size_t size_bytes);

int chunk_flush(struct chunk_writer *writer);

/* Write the ROUND chunk, which ends a round. */
int chunk_put_round(struct chunk_writer *writer, uint64_t time_ns);

/* Write the END chunk, and flush. */
int chunk_put_end(struct chunk_writer *writer, uint64_t time_ns);

#endif
