/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes a file of segments (uapi/packed_recording.h). After the first error, nothing more is
 * written, and all functions return that error.
 */
#ifndef JITBPF_PIPELINE_RECORD_SEGMENT_WRITER_H
#define JITBPF_PIPELINE_RECORD_SEGMENT_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pipeline/record/lanes.h"

struct ZSTD_CCtx_s;

struct segment_writer {
	FILE *out; /* borrowed */
	struct ZSTD_CCtx_s *zstd;
	uint64_t bytes; /* written so far */
	uint32_t crc;	/* of these bytes, without the CRCs */
	VEC(uint8_t) packed;
	bool ends_frame; /* the next segment ends the zstd frame of the file that it continues */
	int error;	 /* the first, negative errno */
};

enum segment_compression {
	SEGMENT_FAST,
	SEGMENT_SMALL, /* at about twice the CPU time */
};

/*
 * Write the file header. Borrows out. Returns 0 or a negative errno, after which the caller calls
 * segment_writer_deinit(), too.
 */
int segment_writer_init(struct segment_writer *writer, FILE *out,
			enum segment_compression compression);
void segment_writer_deinit(struct segment_writer *writer);

/*
 * Write segments to out that continue a copy of base's file, in a zstd frame of their own. At least
 * one segment of base was written. base goes on unchanged. Errors and ownership as above.
 */
int segment_writer_continue(struct segment_writer *writer, const struct segment_writer *base,
			    FILE *out);

/*
 * Write the contents of the lanes as a segment, and empty the lanes. Empty lanes make no segment.
 */
int segment_write(struct segment_writer *writer, struct lanes *lanes);

#endif
