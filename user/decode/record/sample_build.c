/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/record/sample_build.h"

#include <string.h>

#include "decode/record/sample_parts.h"

/* Flags of parts and fields that only live samples have. */
#define LIVE_FLAGS                                                                                 \
	(JITBPF_SAMPLE_STACK_COPY | JITBPF_SAMPLE_CODE_BYTES | JITBPF_SAMPLE_RUNTIME_FRAMES)

void sample_build(const struct jitbpf_sample *received, const struct frame_words *user,
		  enum jitbpf_stack_end user_end, union finished_sample *ret)
{
	const struct frame_words kernel = sample_kernel_frames(received);
	struct jitbpf_sample *sample = &ret->sample;

	*sample = *received;
	sample->user_words = (uint16_t)user->count;
	sample->user_end = user_end;
	sample->mappings_age_ns = 0;
	sample->h.flags &= (uint16_t)~LIVE_FLAGS;
	memcpy(sample->words, kernel.words, kernel.count * sizeof(uint64_t));
	memcpy(sample->words + kernel.count, user->words, user->count * sizeof(uint64_t));
	memcpy(ret->bytes + sample_kept_offset(sample), sample_kept_parts(received),
	       sample_kept_bytes(received));
	sample->h.size_bytes = (uint32_t)sample_finished_bytes(sample);
}

uint32_t sample_cut(struct jitbpf_sample *sample, uint32_t frames)
{
	const struct frame_words user = sample_user_frames(sample);
	const void *kept = sample_kept_parts(sample);
	uint32_t words = frame_words_of(&user, frames);

	sample->user_words = (uint16_t)words;
	memmove((uint8_t *)sample + sample_kept_offset(sample), kept, sample_kept_bytes(sample));
	sample->h.size_bytes = (uint32_t)sample_finished_bytes(sample);
	return user.count - words;
}
