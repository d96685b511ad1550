/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Puts the bytes of a recording out, and keeps their checksum. The first error
 * stays: from then on nothing is written.
 */
#ifndef JITBPF_PIPELINE_RECORD_CHUNK_WRITER_H
#define JITBPF_PIPELINE_RECORD_CHUNK_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "uapi/recording.h"

struct chunk_writer {
	FILE *out;	/* borrowed */
	uint32_t crc;	/* of what was put since the last ROUND */
	uint64_t bytes; /* written so far */
	int error;	/* the first, negative errno */
};

/* Put bytes. Returns 0, or the first error. */
int chunk_put(struct chunk_writer *writer, const void *bytes, size_t size_bytes);

int chunk_flush(struct chunk_writer *writer);

/* Put the ROUND chunk that ends all since the one before. */
int chunk_put_round(struct chunk_writer *writer, uint64_t time_ns);

/* Put the END chunk, and flush. */
int chunk_put_end(struct chunk_writer *writer, uint64_t time_ns);

#endif
