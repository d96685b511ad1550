/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an epoch counts for one event. Samples of different events are never added up. Locations,
 * strings, names and ledger rows are those of the epoch, which all events share.
 */
#ifndef JITBPF_PIPELINE_ANALYSIS_EVENT_COUNTS_H
#define JITBPF_PIPELINE_ANALYSIS_EVENT_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "profile/ledger.h"
#include "profile/profile.h"
#include "profile/thread_counts.h"
#include "profile/time_slices.h"
#include "uapi/record.h"

struct analysis;
struct epoch;
struct view;

/* The fates of an event's samples, as in struct ledger_process. */
struct event_fates {
	uint64_t fate[FATE_COUNT];
	uint64_t cut[LEDGER_CUT_COUNT];
	uint64_t frame_pointers;
};

/* Zero-initialized is empty. */
struct event_counts {
	struct profile profile; /* in a root, `location` is the ledger row of the process */
	struct thread_counts threads;
	struct time_slices slices; /* of `threads`, if view.slices is set */
	/*
	 * The sum of what the samples count for: 1, or the sample's own weight. A sample for which
	 * it would overflow is refused, so no other sum overflows.
	 */
	uint64_t amount;
	/* Of events from 1 on; the epoch's ledger has those of event 0. */
	uint64_t taken;		      /* as counted by the BPF program, modulo 2^64 */
	VEC(uint32_t) places;	      /* by ledger row: index in `rows`, plus 1 */
	VEC(struct event_fates) rows; /* in the order of their first samples */
	struct event_fates all;	      /* sum of the rows */
};

/* Returns the sum of all fates. */
uint64_t event_fates_taken(const struct event_fates *fates);

/*
 * Get the fates of a ledger row for an event from 1 on, valid until the next call. They are charged
 * to the present payer. Returns 0 or -ENOMEM.
 */
int event_counts_row(struct epoch *epoch, uint32_t event, uint32_t row, struct event_fates **ret);

void event_counts_deinit(struct event_counts *counts);

/* Returns the number of an epoch's event by its name, or JITBPF_EVENTS_MAX if it has none such. */
uint32_t event_number(const struct epoch *epoch, const char *name);

/*
 * Returns the view of the event that the epoch's outputs show, with the counts as they are now but
 * the ledger of the last event_view_complete(). Borrowed.
 */
const struct view *event_view(struct epoch *epoch);

/*
 * Complete the ledger of that view, and the totals of all events, after the epoch's ledger is
 * complete. before: by event, samples of earlier epochs of the run. Returns 0 or -ENOMEM.
 */
int event_view_complete(struct epoch *epoch, const uint64_t before[JITBPF_EVENTS_MAX]);

#endif
