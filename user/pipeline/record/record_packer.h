/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packs chunks in the general form of uapi/packed_recording.h. */
#ifndef JITBPF_PIPELINE_RECORD_RECORD_PACKER_H
#define JITBPF_PIPELINE_RECORD_RECORD_PACKER_H

#include "decode/recording/word_columns.h"
#include "pipeline/record/lanes.h"
#include "uapi/recording.h"

struct record_packer {
	struct lanes lanes; /* lanes.error is the packer's */
	struct word_rows rows;
	uint64_t time_ns; /* of the last chunk */
};

/*
 * Add a chunk of a type below JITBPF_PACKED_SAMPLE and of up to JITBPF_CHUNK_MAX bytes. body: the
 * bytes behind its header.
 */
void record_pack(struct record_packer *packer, const struct jitbpf_record *head, const void *body);

/*
 * Add the words of a run: a mask of the words that differ from the expected ones, and the
 * differences. words may be unaligned. Returns the last word; 0 if there are none.
 */
uint32_t record_pack_words(struct record_packer *packer, uint8_t type, bool first, uint64_t time_ns,
			   const void *words, uint32_t count);

#endif
