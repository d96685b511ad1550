/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events that can be sampled beside CPU time (-e): software events of the kernel. Each has the
 * type PERF_TYPE_SOFTWARE; hardware events and tracepoints cannot be rows. CPU time is the event of
 * cpu_events.h.
 */
#ifndef JITBPF_AGENT_KERNEL_EVENTS_SOFTWARE_EVENTS_H
#define JITBPF_AGENT_KERNEL_EVENTS_SOFTWARE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/record.h"

/* A row for each event that is known: the members of struct software_event. */
#define SOFTWARE_EVENTS(ROW)                                                                       \
	ROW("page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS, 1000)                              \
	ROW("minor-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS_MIN, 1000)                         \
	ROW("major-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ, 50)                           \
	ROW("context-switches", "switches", PERF_COUNT_SW_CONTEXT_SWITCHES, 500)                   \
	ROW("cpu-migrations", "migrations", PERF_COUNT_SW_CPU_MIGRATIONS, 100)

struct software_event {
	const char *name; /* as in perf */
	const char *unit; /* of its weights: "faults" */
	uint64_t config;  /* PERF_COUNT_SW_* */
	/*
	 * Default period: even a machine that does nothing else causes at most a few thousand
	 * samples per second on each CPU.
	 */
	uint64_t period;
};

/* Returns event number i of those that are known, or NULL after the last one. */
const struct software_event *software_event_at(size_t i);

/* An event to be sampled: one sample for each `period` occurrences on a CPU. */
struct chosen_event {
	const struct software_event *event;
	uint64_t period;
};

/* Event N of the run is chosen[N - 1]. */
struct chosen_events {
	size_t count;
	struct chosen_event chosen[JITBPF_EVENTS_MAX - 1];
};

/*
 * Open an event of a CPU, disabled. Returns a descriptor or a negative errno (-ENODEV: the CPU is
 * offline).
 */
int software_event_open(const struct chosen_event *event, uint32_t cpu);

/*
 * Attach a BPF program to an event that is open, with the number of the event as cookie. The
 * program is detached when the returned descriptor is closed. Returns it, or a negative errno.
 */
int software_event_attach(int event_fd, int program_fd, uint32_t number);

#endif
