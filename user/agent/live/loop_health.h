/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The pauses of the event loop: the time from one wait for events to the next, in which no ring is
 * drained. Times are CLOCK_MONOTONIC. Event loop only.
 */
#ifndef JITBPF_AGENT_LIVE_LOOP_HEALTH_H
#define JITBPF_AGENT_LIVE_LOOP_HEALTH_H

#include <stdint.h>

#define LOOP_PAUSE_NS 100000000ull /* a turn may take that long */

/* Zero-initialized: no turn yet. */
struct loop_health {
	uint64_t began_ns;   /* start of the current turn; 0: the loop waits */
	uint64_t longest_ns; /* of all turns */
	uint64_t recent_ns;  /* longest turn since loop_health_take_recent() */
	uint64_t pauses;     /* number of turns longer than LOOP_PAUSE_NS */
};

static inline void loop_health_begin(struct loop_health *health, uint64_t now_ns)
{
	health->began_ns = now_ns;
}

/* End a turn. Without a turn, nothing is counted. */
static inline void loop_health_end(struct loop_health *health, uint64_t now_ns)
{
	uint64_t took_ns = health->began_ns ? now_ns - health->began_ns : 0;

	health->began_ns = 0;
	health->longest_ns = took_ns > health->longest_ns ? took_ns : health->longest_ns;
	health->recent_ns = took_ns > health->recent_ns ? took_ns : health->recent_ns;
	health->pauses += took_ns > LOOP_PAUSE_NS;
}

/* Returns the longest turn since the last call, in ns. */
static inline uint64_t loop_health_take_recent(struct loop_health *health)
{
	uint64_t recent_ns = health->recent_ns;

	health->recent_ns = 0;
	return recent_ns;
}

#endif
