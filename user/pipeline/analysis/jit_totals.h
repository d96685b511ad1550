/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* JIT_COUNTS records: the counts of a process's code, also from before it was recorded. */
#ifndef JITBPF_PIPELINE_ANALYSIS_JIT_TOTALS_H
#define JITBPF_PIPELINE_ANALYSIS_JIT_TOTALS_H

#include "pipeline/analysis/analysis_state.h"

struct jit_totals {
	struct jitbpf_jit_counts head;
	uint64_t values[JITBPF_TOTALS_MAX];
};

/* Make a record of all counts except sequence_gaps, which event_sequences.h counts. */
void jit_totals_make(const struct process *process, uint64_t time_ns,
		     const struct jit_counts *counts, struct jit_totals *ret);

/* Apply a record: its counts replace those of the row of the process. Returns 0 or -ENOMEM. */
int analysis_take_jit_counts(struct analysis *a, const struct jitbpf_jit_counts *record);

#endif
