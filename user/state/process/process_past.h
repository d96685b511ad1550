/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a process was called, and when it had begun its program, at a time that has passed:
 * samples can come late, and a shell's children change both within milliseconds.
 */
#ifndef JITBPF_STATE_PROCESS_PROCESS_PAST_H
#define JITBPF_STATE_PROCESS_PROCESS_PAST_H

#include <stdint.h>

#include "base/vec.h"

#define PROCESS_PAST_MAX 64 /* changes; of more, the oldest are not known */

/* Until time_ns, and from the one before on. */
struct process_was {
	uint64_t until_ns;
	uint64_t program_ns;
	uint32_t comm;
};

/* Zero-initialized is empty. */
struct process_past {
	VEC(struct process_was) changes; /* ascending */
};

/* Returns 0 or -ENOMEM. One that is older than the last counts as of the same time. */
int process_past_add(struct process_past *past, struct process_was was);

/* What was at time_ns, NULL where that is as it is now. Borrowed until the next change. */
const struct process_was *process_past_at(const struct process_past *past, uint64_t time_ns);

void process_past_forget(struct process_past *past, uint64_t time_ns);
void process_past_deinit(struct process_past *past);

#endif
