/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an epoch counts for one event. Samples of different events are never added up. Locations,
 * strings, names and ledger rows are those of the epoch, which all events share.
 */
#ifndef JITBPF_PIPELINE_ANALYSIS_EPOCH_EVENT_COUNTS_H
#define JITBPF_PIPELINE_ANALYSIS_EPOCH_EVENT_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "profile/event_fates.h"
#include "profile/hidden_totals.h"
#include "profile/profile.h"
#include "profile/thread_counts.h"
#include "profile/time_slices.h"
#include "sink/sink.h"
#include "uapi/record.h"

struct analysis;
struct epoch;

/* The view of an event from 1 on. */
struct event_view {
	struct view view;
	struct run_info info;
	struct ledger ledger; /* has rows of its own */
};

/* Zero-initialized is empty. */
struct event_counts {
	struct profile profile; /* in a root, `location` is the ledger row of the process */
	struct thread_counts threads;
	struct hidden_totals hidden; /* of samples at nodes that lack callers */
	struct time_slices slices;   /* of `threads`, if view.slices is set */
	/*
	 * The sum of what the samples count for: 1, or the sample's own weight. A sample for which
	 * it would overflow is refused, so no other sum overflows.
	 */
	uint64_t amount;
	/* Of events from 1 on; the epoch's ledger has those of event 0. */
	uint64_t taken; /* as counted by the BPF program, modulo 2^64 */
	struct event_rows fates;
};

/*
 * Get the fates of a ledger row for an event from 1 on, valid until the next call. They are charged
 * to the present payer. Returns 0 or -ENOMEM.
 */
int event_counts_row(struct epoch *epoch, uint32_t event, uint32_t row, struct event_fates **ret);

void event_counts_deinit(struct event_counts *counts);

/* Returns the number of an epoch's event by its name, or JITBPF_EVENTS_MAX if it has none such. */
uint32_t event_number(const struct epoch *epoch, const char *name);

/*
 * Returns the view of an event of the epoch, with the counts as they are now but, from event 1 on,
 * the ledger of the last event_views_complete(). Borrowed.
 */
const struct view *event_view(struct epoch *epoch, uint32_t event);

/*
 * Complete the ledgers of all events, and their totals, after the epoch's ledger is complete.
 * before: by event, samples of earlier epochs of the run. Returns 0 or -ENOMEM.
 */
int event_views_complete(struct epoch *epoch, const uint64_t before[JITBPF_EVENTS_MAX]);

/* Make the views of events, if the epoch has several. Returns 0 or -ENOMEM. */
int event_views_create(struct epoch *epoch);
void event_views_destroy(struct epoch *epoch);

#endif
