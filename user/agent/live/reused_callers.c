/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/live/reused_callers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void reused_callers_deinit(struct reused_callers *reused)
{
	for (uint32_t i = 0; i < JITBPF_CPUS_MAX; i++)
		free(reused->cpus[i]);
	*reused = (struct reused_callers){0};
}

static struct cpu_callers *callers_of(struct reused_callers *reused, uint32_t cpu)
{
	if (!reused->cpus[cpu])
		reused->cpus[cpu] = calloc(1, sizeof(*reused->cpus[cpu]));
	return reused->cpus[cpu];
}

/* Set the callers to those in a sample, followed by the outermost `reused` callers of before. */
static void put_callers(struct cpu_callers *callers, const __u64 *words, uint32_t count,
			uint32_t reused)
{
	callers->count = count + reused;
	memcpy(callers->words + JITBPF_USER_FRAMES_MAX - callers->count, words,
	       count * sizeof(*words));
}

int reused_callers_complete(struct reused_callers *reused, const struct jitbpf_sample *sample,
			    const struct jitbpf_sample **ret)
{
	uint32_t lacks = sample->user_end >> JITBPF_REUSED_SHIFT, has, head_bytes, rest_bytes;
	const uint8_t *bytes = (const uint8_t *)sample;
	struct jitbpf_sample *whole = &reused->room.sample;
	struct cpu_callers *callers;
	uint8_t *to;

	if (!(sample->h.flags & JITBPF_SAMPLE_REUSES_CALLERS)) {
		*ret = sample;
		return 0;
	}
	if (sample->cpu >= JITBPF_CPUS_MAX || sample->user_words <= lacks ||
	    sample->kernel_words > JITBPF_KERNEL_FRAMES_MAX ||
	    sample->user_words > JITBPF_USER_FRAMES_MAX ||
	    sample->h.size_bytes > sizeof(reused->room))
		return -EBADMSG;
	has = sample->user_words - lacks;
	head_bytes = (uint32_t)sizeof(*sample) +
		     (sample->kernel_words + has) * (uint32_t)sizeof(sample->words[0]);
	if (sample->h.size_bytes < head_bytes)
		return -EBADMSG;
	callers = callers_of(reused, sample->cpu);
	if (!callers)
		return -ENOMEM;
	rest_bytes = sample->h.size_bytes - head_bytes;
	if (head_bytes + lacks * sizeof(sample->words[0]) + rest_bytes > sizeof(reused->room))
		return -EBADMSG;
	memcpy(whole, sample, head_bytes);
	whole->h.flags &= (uint16_t)~JITBPF_SAMPLE_REUSES_CALLERS;
	whole->user_end &= (1u << JITBPF_REUSED_SHIFT) - 1;
	if (lacks > callers->count) {
		lacks = 0;
		whole->user_words = (uint16_t)has;
		whole->user_end = JITBPF_END_UNREADABLE;
		callers->count = 0; /* the next sample may refer to unknown callers */
	} else {
		put_callers(callers, sample->words + sample->kernel_words + 1, has - 1, lacks);
	}
	to = reused->room.bytes + head_bytes;
	memcpy(to, callers->words + JITBPF_USER_FRAMES_MAX - lacks,
	       lacks * sizeof(sample->words[0]));
	to += lacks * sizeof(sample->words[0]);
	memcpy(to, bytes + head_bytes, rest_bytes);
	whole->h.size_bytes = (uint32_t)(to - reused->room.bytes) + rest_bytes;
	*ret = whole;
	return 0;
}
