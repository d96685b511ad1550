/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Builds finished samples (pipeline/finished_records.h), and cuts them. */
#ifndef JITBPF_DECODE_RECORD_SAMPLE_BUILD_H
#define JITBPF_DECODE_RECORD_SAMPLE_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include "decode/record/sample_frames.h"

#define FINISHED_SAMPLE_BYTES_MAX                                                                  \
	(sizeof(struct jitbpf_sample) + JITBPF_SAMPLE_WORDS_MAX * sizeof(uint64_t) +               \
	 sizeof(struct jitbpf_user_regs) + sizeof(uint64_t))

/* Room for the largest finished sample. */
union finished_sample {
	struct jitbpf_sample sample;
	uint8_t bytes[FINISHED_SAMPLE_BYTES_MAX];
};

/*
 * Build the finished form of a sample that was received: its kernel frames, the parts that finished
 * samples have, and these user frames, which end like that. user has at most JITBPF_USER_WORDS_MAX
 * words.
 */
void sample_build(const struct jitbpf_sample *received, const struct frame_words *user,
		  enum jitbpf_stack_end user_end, union finished_sample *ret);

/*
 * Cut off the outermost user frames of a finished sample, in place, so that `frames` are left.
 * Returns the number of words that were cut off.
 */
uint32_t sample_cut(struct jitbpf_sample *sample, uint32_t frames);

#endif
