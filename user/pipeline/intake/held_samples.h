/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finished samples of virtual machines, in which code can end before its end is reported. A sample
 * is held for CODE_SUCCESSOR_NS after its time. Until then, a report may come of code that had
 * taken the place of the sample's code (unwind/code_successors.h).
 *
 * Held samples are charged to the owner of their process. A sample that does not get memory is not
 * held.
 */
#ifndef JITBPF_PIPELINE_INTAKE_HELD_SAMPLES_H
#define JITBPF_PIPELINE_INTAKE_HELD_SAMPLES_H

#include <stdbool.h>

#include "base/owner_budget.h"
#include "base/vec.h"
#include "uapi/record.h"

#define HELD_SAMPLES_BYTES_MAX (8u << 20)

struct held_sample {
	struct jitbpf_sample *sample;	/* finished, allocated */
	struct jitbpf_code_bytes *seen; /* allocated with the sample; NULL: it had no bytes */
	size_t charged_bytes;
	struct budget_owner *owner; /* a reference */
};

struct held_samples {
	VEC(struct held_sample) samples; /* in order of arrival */
	struct owner_budget budget;
};

void held_samples_init(struct held_samples *held);
void held_samples_deinit(struct held_samples *held);

/*
 * Hold copies of a finished sample and of the code it saw (NULL: none) for an owner. Returns 0,
 * -EDQUOT or -ENOMEM.
 */
int held_samples_add(struct held_samples *held, struct owner_key key,
		     const struct jitbpf_sample *sample, const struct jitbpf_code_bytes *seen);

/* Free a sample. The caller removes it from the vector. */
void held_samples_free(struct held_samples *held, struct held_sample *sample);

/*
 * The code of a sample's user frame frames - 1 is unknown: cut off its callers, in place.
 * frames is 1 to the number of user frames.
 */
void held_sample_cut(struct jitbpf_sample *sample, uint32_t frames);

#endif
