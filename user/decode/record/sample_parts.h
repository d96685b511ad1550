/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts behind the frames of a sample that has passed record_check(). */
#ifndef JITBPF_DECODE_RECORD_SAMPLE_PARTS_H
#define JITBPF_DECODE_RECORD_SAMPLE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/record.h"

/* Returns the size in bytes of the parts that finished samples have, too: registers and weight. */
static inline size_t sample_kept_bytes(const struct jitbpf_sample *sample)
{
	return (sample->h.flags & JITBPF_SAMPLE_USER_REGS ? sizeof(struct jitbpf_user_regs) : 0) +
	       (sample->h.flags & JITBPF_SAMPLE_WEIGHT ? sizeof(uint64_t) : 0);
}

/* Returns these parts. Borrowed. */
static inline const void *sample_kept_parts(const struct jitbpf_sample *sample)
{
	return (const uint8_t *)(sample + 1) +
	       ((size_t)sample->kernel_frames + sample->user_frames) * sizeof(uint64_t);
}

/* Returns true with *ret set if the sample has a weight of its own. */
static inline bool sample_weight(const struct jitbpf_sample *sample, uint64_t *ret)
{
	const uint64_t *end = (const void *)((const uint8_t *)sample_kept_parts(sample) +
					     sample_kept_bytes(sample));

	if (!(sample->h.flags & JITBPF_SAMPLE_WEIGHT))
		return false;
	*ret = end[-1];
	return true;
}

/* Returns the bytes of code of a sample, or NULL if it has none. Borrowed. */
const struct jitbpf_code_bytes *code_bytes_of(const struct jitbpf_sample *sample);

/* Returns the stack copy of a sample, or NULL if it has none or an incomplete one. Borrowed. */
const struct jitbpf_stack_copy *stack_copy_of(const struct jitbpf_sample *sample);

/* Returns true if the copy lacks some of size_bytes at an offset in it. size_bytes is up to a page.
 */
bool stack_copy_misses(const struct jitbpf_stack_copy *copy, uint64_t offset, size_t size_bytes);

#endif
