/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Completes samples from the rings whose outermost callers are those of an earlier sample of the
 * CPU (JITBPF_SAMPLE_REUSES_CALLERS). Zero-initialized is empty. Single-threaded.
 */
#ifndef JITBPF_AGENT_LIVE_REUSED_CALLERS_H
#define JITBPF_AGENT_LIVE_REUSED_CALLERS_H

#include "base/vec.h"
#include "uapi/kernel_maps.h"
#include "uapi/record.h"

struct cpu_callers {
	uint32_t count;
	uint64_t words[JITBPF_USER_FRAMES_MAX]; /* the outermost one is the last */
};

struct reused_callers {
	struct cpu_callers *cpus[JITBPF_CPUS_MAX]; /* NULL: no such sample yet */
	union {
		struct jitbpf_sample sample;
		uint8_t bytes[sizeof(struct jitbpf_sample) +
			      JITBPF_SAMPLE_FRAMES_MAX * sizeof(__u64) +
			      sizeof(struct jitbpf_user_regs) +
			      sizeof(struct jitbpf_runtime_frames) +
			      JITBPF_RUNTIME_FRAMES_MAX * sizeof(struct runtime_frame) +
			      sizeof(struct jitbpf_code_bytes) + sizeof(struct jitbpf_stack_copy) +
			      JITBPF_STACK_COPY_MAX];
	} room;
};

void reused_callers_deinit(struct reused_callers *reused);

/*
 * Set *ret to the sample with all its frames, valid until the next call; to the sample itself if it
 * has them. The samples of a CPU come in their order. A sample with callers that no earlier one had
 * is cut there (JITBPF_END_UNREADABLE), and so are those after it, up to one with all its callers.
 * Returns 0, -EBADMSG (its size does not fit), or -ENOMEM.
 */
int reused_callers_complete(struct reused_callers *reused, const struct jitbpf_sample *sample,
			    const struct jitbpf_sample **ret);

#endif
