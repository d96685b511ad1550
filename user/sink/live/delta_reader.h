/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Applies deltas (delta_format.h) to a profile of its own, on any thread. Sinks that need
 * only counts and names (sink_ops.counts_only) can write from its view, with any view
 * options. Deltas are checked like untrusted input.
 */
#ifndef JITBPF_SINK_LIVE_DELTA_READER_H
#define JITBPF_SINK_LIVE_DELTA_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/event_fates.h"
#include "sink/sink.h"

/* The samples of an event. */
struct delta_samples {
	struct profile profile;
	struct thread_counts threads;
	struct time_slices slices;
	size_t sliced_max; /* the largest number of slices so far, which are charged */
	uint32_t rows_due; /* rows that the roots refer to */
};

/* An event from 1 on. */
struct delta_event {
	struct delta_samples samples;
	struct run_info info;
	char *texts[2]; /* of info: event, unit */
	struct event_rows fates;
	struct ledger ledger; /* that of CPU time with `fates`, once the profile is complete */
	size_t rows_max;      /* rows of the ledger that are charged */
	struct view view;
};

/*
 * Numbers are those of the writer. Modules, the code of locations, and indexes for look-ups
 * by value are absent. It must not be moved in memory.
 */
struct delta_profile {
	uint32_t state; /* 0: empty */
	bool complete;	/* complete as of time_ns; else more deltas follow */
	bool takes_string;
	uint64_t time_ns;
	size_t used_bytes, max_bytes;
	struct run_info info;
	char *texts[4]; /* of info: event, command, host, kernel */
	struct string_pool *strings;
	struct module_table modules; /* empty */
	struct location_table locations;
	struct frame_table *frames;
	struct delta_samples samples; /* of CPU time */
	struct code_lane *lane;	      /* NULL: no JIT code so far */
	struct ledger ledger;
	struct view view;	    /* of the members above; valid in any state but 0 */
	struct delta_event *events; /* info.more_events of them; NULL: none */
	const struct view *by_event[JITBPF_EVENTS_MAX]; /* for view.by_event */
};

/* Initialize an empty profile, limited to about max_bytes. */
void delta_profile_init(struct delta_profile *profile, const struct view_options *options,
			size_t max_bytes);

/*
 * Apply a delta. A delta from state 0 replaces the contents of the profile. Returns
 * 0, -ESTALE (not a delta from the profile's state; it is unchanged), -EBADMSG
 * (damaged), -E2BIG (more than max_bytes) or -ENOMEM. After the last three the profile
 * is empty.
 */
int delta_profile_apply(struct delta_profile *profile, const void *delta, size_t size_bytes);

void delta_profile_deinit(struct delta_profile *profile);

#endif
