/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples in code that may not be reported yet. Loads of some publishers are late
 * (code_map_is_late()). A sample of such a process with a frame in anonymous memory without code
 * waits, since a later load may apply to it.
 *
 * Samples that wait are charged to the owner of their process. A sample that does not get memory,
 * or has waited for INTAKE_DEFER_NS, is completed with the code that is known then.
 */
#ifndef JITBPF_PIPELINE_INTAKE_AWAITED_CODE_H
#define JITBPF_PIPELINE_INTAKE_AWAITED_CODE_H

#include "base/owner_budget.h"
#include "uapi/record.h"
#include "unwind/unwinder.h"

struct intake_deferred {
	struct jitbpf_sample *sample;
	struct budget_owner *holder; /* charged in intake.waiting, a reference */
	uint64_t awaited; /* address of a frame without code; 0: waits for rows or checks */
	struct budget_owner *owner; /* charged for the sample, a reference; NULL: not charged */
};

#define AWAITED_CODE_BYTES_MAX                                                                     \
	(8u << 20) /* of samples that wait, below INTAKE_WAITING_BYTES_MAX                         \
		    */

/* Returns true if samples of a process may have to wait; false if process is NULL. */
bool awaited_code_is_possible(const struct process *process);

/* Returns true if the frame that a deferred sample awaits is still without code. */
bool awaited_code_is_missing(const struct process *process, const struct intake_deferred *deferred);

/*
 * Find a frame whose code may still be reported, in a stack that may be incomplete. Returns 1 with
 * deferred->awaited set and the owner charged, 0 if there is none, -EDQUOT or -ENOMEM.
 */
int awaited_code_begin(struct owner_budget *budget, const struct process *process,
		       const struct finished_stack *stack, struct intake_deferred *deferred);

/* The sample is completed, or dropped: release the charge. No-op without one. */
void awaited_code_end(struct owner_budget *budget, struct intake_deferred *deferred);

#endif
