/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/intake/held_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/record/sample_build.h"

void held_samples_init(struct held_samples *held)
{
	*held = (struct held_samples){.budget.limit = HELD_SAMPLES_BYTES_MAX};
}

void held_samples_deinit(struct held_samples *held)
{
	vec_for_each (sample, &held->samples)
		held_samples_free(held, sample);
	vec_deinit(&held->samples);
	owner_budget_deinit(&held->budget);
}

/* Copy a sample, with its code bytes behind it. */
static int copy_sample(const struct jitbpf_sample *sample, const struct jitbpf_code_bytes *seen,
		       struct held_sample *ret)
{
	size_t size_bytes = sample->h.size_bytes;
	uint8_t *copy = malloc(size_bytes + (seen ? sizeof(*seen) : 0));

	if (!copy)
		return -ENOMEM;
	memcpy(copy, sample, size_bytes);
	ret->sample = (struct jitbpf_sample *)copy;
	if (seen) {
		memcpy(copy + size_bytes, seen, sizeof(*seen));
		ret->seen = (struct jitbpf_code_bytes *)(copy + size_bytes);
	}
	return 0;
}

int held_samples_add(struct held_samples *held, struct owner_key key,
		     const struct jitbpf_sample *sample, const struct jitbpf_code_bytes *seen)
{
	struct held_sample new = {
		.charged_bytes = sizeof(new) + sample->h.size_bytes + (seen ? sizeof(*seen) : 0),
	};
	int err = vec_reserve(&held->samples, held->samples.size + 1);

	err = err ?: owner_budget_get(&held->budget, key, &new.owner);
	if (err)
		return err;
	err = owner_budget_charge(&held->budget, new.owner, new.charged_bytes);
	if (err) {
		owner_budget_put(&held->budget, new.owner);
		return err;
	}
	err = copy_sample(sample, seen, &new);
	if (err) {
		held_samples_free(held, &new);
		return err;
	}
	return vec_push(&held->samples, new);
}

void held_samples_free(struct held_samples *held, struct held_sample *sample)
{
	free(sample->sample);
	owner_budget_release(&held->budget, sample->owner, sample->charged_bytes);
	owner_budget_put(&held->budget, sample->owner);
}

void held_sample_cut(struct jitbpf_sample *sample, uint32_t frames)
{
	if (sample_cut(sample, frames) && sample->user_end != JITBPF_END_NONE)
		sample->user_end = JITBPF_END_NO_RULE;
	sample->h.flags |= JITBPF_SAMPLE_CODE_UNTOLD;
}
