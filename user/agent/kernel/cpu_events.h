/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The perf events of every CPU: one that samples, and one software DUMMY that
 * carries the side-band (mappings, names, forks, exits, kernel symbols) and the
 * sampling event's throttle records, all on CLOCK_MONOTONIC.
 */
#ifndef JITBPF_AGENT_KERNEL_CPU_EVENTS_H
#define JITBPF_AGENT_KERNEL_CPU_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct cpu_event {
	uint32_t cpu;
	int sample_fd;	 /* disabled until a program is attached */
	int sideband_fd; /* counts from the beginning */
	void *sideband;	 /* its ring: a control page, then the data */
};

struct cpu_events {
	VEC(struct cpu_event) cpus; /* those online */
	size_t sideband_bytes;	    /* data of one ring */
	const char *name;	    /* of the sampling event: "cycles" or "cpu-clock" */
};

/*
 * Open all. Sets *ret_what to what failed, for people.
 * Returns 0 or negative errno; on failure nothing stays open.
 */
int cpu_events_open(struct cpu_events *events, uint32_t freq_hz, const char **ret_what);
void cpu_events_close(struct cpu_events *events);

/* Stop taking samples; the side-band goes on. */
void cpu_events_stop_sampling(struct cpu_events *events);

#endif
