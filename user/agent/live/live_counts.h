/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The counts of the kernel and the agent, as records of the live source. */
#ifndef JITBPF_AGENT_LIVE_LIVE_COUNTS_H
#define JITBPF_AGENT_LIVE_LIVE_COUNTS_H

#include <stdbool.h>

#include "agent/live/live_state.h"

/* All functions emit records. They return 0, or what `take` returns. */

/* Emit all counters, at the end of the run. */
int live_counts_send(struct live_drain *drain);

/*
 * Emit the probes that were deferred since the last call, so that a live page shows them while the
 * lock is held. Consumers add up COUNTERS records; the one of the end has the rest.
 */
int live_counts_send_deferrals(struct live_drain *drain);

/* Emit the numbers of lost samples: of processes that have ended, or of all. */
int live_counts_send_lost(struct live_drain *drain, bool all);

#endif
