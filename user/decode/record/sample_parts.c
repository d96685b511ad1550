/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/record/sample_parts.h"

#include <stddef.h>
#include <stdint.h>

const struct jitbpf_runtime_frames *sample_runtime_frames(const struct jitbpf_sample *sample)
{
	uint64_t offset = sample_finished_bytes(sample);
	const struct jitbpf_runtime_frames *part =
		(const struct jitbpf_runtime_frames *)((const uint8_t *)sample + offset);

	if (!(sample->h.flags & JITBPF_SAMPLE_RUNTIME_FRAMES) ||
	    sample->h.size_bytes < offset + sizeof(*part) ||
	    part->count > JITBPF_RUNTIME_FRAMES_MAX ||
	    sample->h.size_bytes - offset - sizeof(*part) < part->count * sizeof(part->frames[0]))
		return NULL;
	return part;
}

/* Returns the offset of the parts behind the runtime frames. */
static uint64_t offset_of_bytes(const struct jitbpf_sample *sample)
{
	const struct jitbpf_runtime_frames *part = sample_runtime_frames(sample);

	return sample_finished_bytes(sample) +
	       (part ? sizeof(*part) + part->count * sizeof(part->frames[0]) : 0);
}

const struct jitbpf_code_bytes *code_bytes_of(const struct jitbpf_sample *sample)
{
	uint64_t offset = offset_of_bytes(sample);

	if (!(sample->h.flags & JITBPF_SAMPLE_CODE_BYTES) ||
	    sample->h.size_bytes < offset + sizeof(struct jitbpf_code_bytes))
		return NULL;
	return (const struct jitbpf_code_bytes *)((const uint8_t *)sample + offset);
}

const struct jitbpf_stack_copy *stack_copy_of(const struct jitbpf_sample *sample)
{
	uint64_t offset = offset_of_bytes(sample);
	const struct jitbpf_stack_copy *copy;

	if (sample->h.flags & JITBPF_SAMPLE_CODE_BYTES)
		offset += sizeof(struct jitbpf_code_bytes);
	if (!(sample->h.flags & JITBPF_SAMPLE_STACK_COPY) || !sample->user_words ||
	    sample->user_words > JITBPF_USER_FRAMES_MAX ||
	    sample->h.size_bytes < offset + sizeof(*copy))
		return NULL;
	copy = (const struct jitbpf_stack_copy *)((const uint8_t *)sample + offset);
	return copy->size_bytes <= sample->h.size_bytes - offset - sizeof(*copy) ? copy : NULL;
}

#define STACK_PAGE 4096u

bool stack_copy_misses(const struct jitbpf_stack_copy *copy, uint64_t offset, size_t size_bytes)
{
	uint64_t first = copy->sp % STACK_PAGE + offset, last = first + size_bytes - 1;

	if (last / STACK_PAGE >= 32)
		return true;
	return (copy->missing >> first / STACK_PAGE | copy->missing >> last / STACK_PAGE) & 1;
}
