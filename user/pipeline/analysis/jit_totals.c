/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/analysis/jit_totals.h"

#include <stddef.h>

#define MEMBER(index, name) [index] = offsetof(struct jit_counts, name)

/* Offsets of the members, but for `published` and sequence_gaps. */
static const size_t members[] = {
	MEMBER(JITBPF_TOTAL_METHODS, methods),
	MEMBER(JITBPF_TOTAL_CODE_BYTES, code_bytes),
	MEMBER(JITBPF_TOTAL_UNLOADS, unloads),
	MEMBER(JITBPF_TOTAL_INLINES, inlines),
	MEMBER(JITBPF_TOTAL_UPDATES, updates),
	MEMBER(JITBPF_TOTAL_MOVES, moves),
	MEMBER(JITBPF_TOTAL_MERGED, merged),
	MEMBER(JITBPF_TOTAL_OTHER_EVENTS, other_events),
	MEMBER(JITBPF_TOTAL_ALREADY_LOADED, late),
	MEMBER(JITBPF_TOTAL_RECOVERED, recovered),
	MEMBER(JITBPF_TOTAL_INLINE_NO_PARENT, inline_no_parent),
	MEMBER(JITBPF_TOTAL_INLINE_OUTSIDE, inline_outside),
	MEMBER(JITBPF_TOTAL_INLINE_OVERLAP, inline_overlap),
	MEMBER(JITBPF_TOTAL_UPDATE_REFUSED, update_refused),
	MEMBER(JITBPF_TOTAL_IN_GAP, in_gap),
	MEMBER(JITBPF_TOTAL_TRUNCATED, truncated),
	MEMBER(JITBPF_TOTAL_INCOMPLETE, incomplete),
	MEMBER(JITBPF_TOTAL_MALFORMED, malformed),
	MEMBER(JITBPF_TOTAL_INVALID, invalid),
	MEMBER(JITBPF_TOTAL_OVER_BUDGET, over_budget),
	MEMBER(JITBPF_TOTAL_NOT_UNDERSTOOD, not_understood),
	MEMBER(JITBPF_TOTAL_LEFT_OUT, left_out),
	MEMBER(JITBPF_TOTAL_UNREADABLE, unreadable),
	MEMBER(JITBPF_TOTAL_OTHER_VERSION, other_version),
	MEMBER(JITBPF_TOTAL_REPLACED, replaced),
	MEMBER(JITBPF_TOTAL_UNCHECKED, unchecked),
	MEMBER(JITBPF_TOTAL_REPLACED_SAMPLES, replaced_samples),
	MEMBER(JITBPF_TOTAL_TIME_CORRECTED, time_corrected),
	MEMBER(JITBPF_TOTAL_OVER_RATE, over_rate),
	MEMBER(JITBPF_TOTAL_EVICTED, evicted),
};

_Static_assert(sizeof(members) / sizeof(members[0]) + JITBPF_PUBLISHER_COUNT + 1 ==
		       sizeof(struct jit_counts) / sizeof(uint64_t),
	       "every member has an index");
_Static_assert(JITBPF_TOTAL_PUBLISHED + JITBPF_PUBLISHER_COUNT <= JITBPF_TOTALS_MAX, "room");

static uint64_t *member(struct jit_counts *counts, size_t index)
{
	return (uint64_t *)((char *)counts + members[index]);
}

void jit_totals_make(const struct process *process, uint64_t time_ns,
		     const struct jit_counts *counts, struct jit_totals *ret)
{
	struct jit_counts copy = *counts;

	*ret = (struct jit_totals){
		.head =
			{
				.h = {.size_bytes = sizeof(ret->head) + (JITBPF_TOTAL_PUBLISHED +
									 JITBPF_PUBLISHER_COUNT) *
										sizeof(uint64_t),
				      .type = JITBPF_JIT_COUNTS,
				      .time_ns = time_ns},
				.pid = process->pid,
				.start_ns = process->start_ns,
			},
	};
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		ret->values[i] = *member(&copy, i);
	memcpy(ret->values + JITBPF_TOTAL_PUBLISHED, copy.published, sizeof(copy.published));
}

int analysis_take_jit_counts(struct analysis *a, const struct jitbpf_jit_counts *record)
{
	size_t count = (record->h.size_bytes - sizeof(*record)) / sizeof(record->values[0]);
	struct jit_counts *counts;
	struct process *process;
	int err = process_table_at(&a->processes, record->pid, record->start_ns, record->h.time_ns,
				   &process);

	if (err)
		return err;
	counts = analysis_jit_counts(a, process);
	if (!counts)
		return -ENOMEM;
	/* The record includes the counts of the account so far. */
	process->account->counted = process->account->counts;
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		*member(counts, i) = i < count ? record->values[i] : 0;
	for (size_t i = 0; i < JITBPF_PUBLISHER_COUNT; i++)
		counts->published[i] = JITBPF_TOTAL_PUBLISHED + i < count
					       ? record->values[JITBPF_TOTAL_PUBLISHED + i]
					       : 0;
	return 0;
}
