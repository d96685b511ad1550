/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The perf events of each CPU: the sampling event, and a software event (DUMMY) whose ring has
 * the side-band: mappings, names, forks, exits, kernel symbols, and the throttle records of the
 * sampling event. Times are CLOCK_MONOTONIC.
 */
#ifndef JITBPF_AGENT_KERNEL_EVENTS_CPU_EVENTS_H
#define JITBPF_AGENT_KERNEL_EVENTS_CPU_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct cpu_event {
	uint32_t cpu;
	int sample_fd;	 /* disabled until the BPF program is attached */
	int sideband_fd; /* enabled when it is opened */
	void *sideband;	 /* the mapped ring: a control page, then the data */
};

struct cpu_events {
	VEC(struct cpu_event) cpus; /* the CPUs that are online, and some that were */
	size_t sideband_bytes;	    /* size of the data of one ring */
	const char *name;	    /* of the sampling event: "cycles" or "cpu-clock" */
};

/*
 * Open the events of one CPU, without the side-band's ring. Returns 0 or a negative errno (-ENODEV:
 * the CPU is offline). The caller closes both descriptors.
 */
int cpu_event_open(uint32_t cpu, uint32_t freq_hz, bool hardware, struct cpu_event *ret);

/* Map its side-band. Returns 0, or a negative errno with *ret_what set to the step that failed. */
int cpu_event_map(struct cpu_event *event, const char **ret_what);

/* Start sampling by a BPF program. Returns 0 or a negative errno. */
int cpu_event_start(const struct cpu_event *event, int program_fd);
void cpu_event_close(struct cpu_event *event);

/*
 * Open the events of all CPUs. Returns 0, or a negative errno with nothing open and *ret_what set
 * to a description of the step that failed.
 */
int cpu_events_open(struct cpu_events *events, uint32_t freq_hz, const char **ret_what);
void cpu_events_close(struct cpu_events *events);

/* Returns the highest rate that the kernel allows now, on each CPU; 0 if it is not known. */
uint32_t cpu_events_max_freq_hz(void);

/* Returns true if the sampling events are cycles, and not the clock. */
bool cpu_events_are_hardware(const struct cpu_events *events);

/* Stop sampling. The side-band continues. */
void cpu_events_stop_sampling(struct cpu_events *events);

#endif
