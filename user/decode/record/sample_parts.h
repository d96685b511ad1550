/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of a sample that has passed record_check(): the head, kernel frames, user frames, the
 * parts that finished samples have (registers, weight), and those of live samples. No other code
 * computes where a part is.
 */
#ifndef JITBPF_DECODE_RECORD_SAMPLE_PARTS_H
#define JITBPF_DECODE_RECORD_SAMPLE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "decode/record/sample_frames.h"

/* Returns the size in bytes of the parts that finished samples have, too: registers and weight. */
static inline size_t sample_kept_bytes(const struct jitbpf_sample *sample)
{
	return (sample->h.flags & JITBPF_SAMPLE_USER_REGS ? sizeof(struct jitbpf_user_regs) : 0) +
	       (sample->h.flags & JITBPF_SAMPLE_WEIGHT ? sizeof(uint64_t) : 0);
}

static inline struct frame_words sample_kernel_frames(const struct jitbpf_sample *sample)
{
	return (struct frame_words){.words = (const uint64_t *)sample->words,
				    .count = sample->kernel_words};
}

static inline struct frame_words sample_user_frames(const struct jitbpf_sample *sample)
{
	return (struct frame_words){.words = (const uint64_t *)sample->words + sample->kernel_words,
				    .count = sample->user_words};
}

/* Returns the number of words of all frames. */
static inline uint32_t sample_words(const struct jitbpf_sample *sample)
{
	return (uint32_t)sample->kernel_words + sample->user_words;
}

/* Returns the offset of the parts that finished samples have, too. */
static inline size_t sample_kept_offset(const struct jitbpf_sample *sample)
{
	return sizeof(*sample) + sample_words(sample) * sizeof(uint64_t);
}

/* Returns these parts. Borrowed. */
static inline const void *sample_kept_parts(const struct jitbpf_sample *sample)
{
	return (const uint8_t *)sample + sample_kept_offset(sample);
}

/* Returns the size of the sample without the parts that only live samples have. */
static inline size_t sample_finished_bytes(const struct jitbpf_sample *sample)
{
	return sample_kept_offset(sample) + sample_kept_bytes(sample);
}

/* Returns the user registers, or NULL if there are none. Borrowed. */
static inline const struct jitbpf_user_regs *sample_regs(const struct jitbpf_sample *sample)
{
	return sample->h.flags & JITBPF_SAMPLE_USER_REGS ? sample_kept_parts(sample) : NULL;
}

/* The weight is the last part. */
static inline size_t sample_weight_offset(const struct jitbpf_sample *sample)
{
	return sample_finished_bytes(sample) - sizeof(uint64_t);
}

/* Returns true with *ret set if the sample has a weight of its own. */
static inline bool sample_weight(const struct jitbpf_sample *sample, uint64_t *ret)
{
	if (!(sample->h.flags & JITBPF_SAMPLE_WEIGHT))
		return false;
	memcpy(ret, (const uint8_t *)sample + sample_weight_offset(sample), sizeof(*ret));
	return true;
}

/* Set the weight of a sample that has room for it. */
static inline void sample_set_weight(struct jitbpf_sample *sample, uint64_t weight)
{
	memcpy((uint8_t *)sample + sample_weight_offset(sample), &weight, sizeof(weight));
}

/* Returns the runtime frames of a sample, or NULL if it has none. Borrowed. */
const struct jitbpf_runtime_frames *sample_runtime_frames(const struct jitbpf_sample *sample);

/* Returns the bytes of code of a sample, or NULL if it has none. Borrowed. */
const struct jitbpf_code_bytes *code_bytes_of(const struct jitbpf_sample *sample);

/* Returns the stack copy of a sample, or NULL if it has none or an incomplete one. Borrowed. */
const struct jitbpf_stack_copy *stack_copy_of(const struct jitbpf_sample *sample);

/* Returns true if the copy lacks some of size_bytes at an offset in it. size_bytes is up to a page.
 */
bool stack_copy_misses(const struct jitbpf_stack_copy *copy, uint64_t offset, size_t size_bytes);

#endif
