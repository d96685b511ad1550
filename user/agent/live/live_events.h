/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events that are sampled beside CPU time, on the CPUs that are online at the start. CPUs that
 * come online later have only CPU time.
 */
#ifndef JITBPF_AGENT_LIVE_LIVE_EVENTS_H
#define JITBPF_AGENT_LIVE_LIVE_EVENTS_H

#include "agent/kernel/events/cpu_events.h"
#include "agent/kernel/events/software_events.h"

struct live_event {
	int event_fd;
	int link_fd; /* its BPF program */
};

/* Zero-initialized is empty. */
struct live_events {
	VEC(struct live_event) open;
	size_t count; /* of chosen events */
};

/*
 * Open the events and attach the program, without sampling yet. Returns 0, or a negative errno with
 * *ret_failed set to the event that failed. live_events_close() is needed in any case.
 */
int live_events_open(struct live_events *events, const struct chosen_events *chosen,
		     const struct cpu_events *cpus, int program_fd,
		     const struct software_event **ret_failed);

/* Start or stop sampling. Starting returns 0 or a negative errno. */
int live_events_start(const struct live_events *events);
void live_events_stop(const struct live_events *events);
void live_events_close(struct live_events *events);

#endif
