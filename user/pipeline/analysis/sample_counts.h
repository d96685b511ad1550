/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts a located sample in an epoch: for its thread at its node, and by its fate in the ledger.
 * Memory is charged to the epoch's payer.
 */
#ifndef JITBPF_PIPELINE_ANALYSIS_SAMPLE_COUNTS_H
#define JITBPF_PIPELINE_ANALYSIS_SAMPLE_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/analysis/analysis_state.h"

/* Returns true if a walk that ended so did not reach the root of its stack. */
static inline bool stack_end_is_cut(enum jitbpf_stack_end end)
{
	return end != JITBPF_END_ROOT && end != JITBPF_END_NONE;
}

/*
 * Count a sample of the ledger row `row` at its node and thread, which has the name `name`. amount:
 * as in struct event_counts. Without room for the thread, or for a count of it at the node, the
 * sample counts for the thread of the row's rest. Without room for that at the node, the path of
 * the sample is left out, as slot->node and slot->left_out say then. Returns 0 with the number of
 * the count in *ret, or -ENOMEM.
 */
int sample_counts_thread(struct epoch *e, uint32_t row, const char *name, uint64_t amount,
			 struct stack_cache_slot *slot, struct sampled_thread *thread,
			 uint32_t *ret);

/* Count the fate of a sample, for the ledger row and in total. Returns 0 or -ENOMEM. */
int sample_counts_fate(struct epoch *e, uint32_t row, const struct jitbpf_sample *sample,
		       const struct stack_cache_slot *slot);

#endif
