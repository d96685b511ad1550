/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The live loads of a log by address. */
#ifndef JITBPF_SHIM_LIVE_LOADS_H
#define JITBPF_SHIM_LIVE_LOADS_H

#include "jitapi-shim/log_events.h"

struct log_start {
	uint64_t start;
	uint32_t event;
};

/* Rank the events by start. starts has room for 2 * count elements. */
void live_loads_rank(struct judge *judge, struct log_start *starts);

/*
 * Returns the live load with the nearest start at or above a rank (up), or at or below it; 0: none.
 */
uint32_t live_loads_near(const struct judge *judge, uint32_t rank, bool up);

/* Returns the live load at an event's start, or 0. */
uint32_t live_loads_at(const struct judge *judge, const struct log_event *event);

void live_loads_begin(struct judge *judge, uint32_t load);

/* End a load (0: none) or a method. */
void live_loads_end(struct judge *judge, uint32_t load, uint32_t ender);

/* End the live loads that start in an event's range. */
void live_loads_end_in(struct judge *judge, uint32_t ender);

#endif
