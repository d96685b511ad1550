/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The live kernel as a source of records: the BPF programs and their rings, the side-band of the
 * perf events, the start-up scan, and the publishers of JIT code (agent/publisher/publisher.h).
 *
 * Order of calls: create, track (with only_tracked), drain until live_source_ready(), start, drain
 * until the run ends, stop, drain until SOURCE_END, destroy. Write outputs before destroy, since
 * the kernel needs long to detach probes.
 */
#ifndef JITBPF_AGENT_LIVE_LIVE_SOURCE_H
#define JITBPF_AGENT_LIVE_LIVE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/files/file_store.h"
#include "agent/kernel/probes/attacher.h"
#include "agent/kernel/events/software_events.h"
#include "agent/jvm/jvm_loads.h"
#include "agent/live/live_filter.h"
#include "agent/live/loop_health.h"
#include "agent/publisher/probe_site.h"
#include "agent/roles/broker.h"
#include "unwind/tables/unwind_tables.h"
#include "pipeline/source.h"
#include "symbolize/symbolizer.h"

#define LIVE_ROUND_MS 50 /* drain at least this often; the rings hold several rounds */

struct live_options {
	const struct broker *broker; /* borrowed */
	uint32_t freq_hz;
	struct chosen_events events; /* sampled beside CPU time */
	bool only_tracked; /* only processes given to live_source_track(), and their children */
	struct live_filter filter;
	bool user_regs;
	bool load_jvm_agents;	  /* load the agent for Java into the JVMs that are profiled */
	bool sampled_jvms_only;	  /* but only into JVMs that have samples */
	size_t code_ring_bytes;	  /* rounded up to a power of two */
	size_t sample_ring_bytes; /* of each CPU; likewise */
};

struct live_source; /* see live_source.c */

/* One line for the user: the step that failed, the error and, if possible, a remedy. */
struct live_failure {
	char what[512];
	bool unsupported; /* this user or machine cannot record (exit status 77) */
};

/*
 * Load the programs, open the events and create the publishers, without sampling yet. files and
 * site, the probe of the installed shim, are borrowed. Returns 0, or a negative errno with *failure
 * set.
 */
int live_source_create(const struct live_options *options, const struct probe_site *site,
		       struct file_store *files, struct live_source **ret,
		       struct live_failure *failure);
void live_source_destroy(struct live_source *live);

/*
 * Read a BPF map, to test whether this process still has the right. Returns 0 or a negative errno.
 */
int live_source_try_maps(struct live_source *live);

/*
 * With only_tracked: profile a process and its future children; else does nothing. Returns 0 or
 * negative errno.
 */
int live_source_track(struct live_source *live, uint32_t pid);

/* Returns true if the state from before the run (processes, mappings, code) was delivered. */
bool live_source_ready(const struct live_source *live);

/* Start sampling. Returns 0, or a negative errno with *failure set. */
int live_source_start(struct live_source *live, struct live_failure *failure);

/* Stop sampling. The next drains deliver the remaining records, and the counters. */
void live_source_stop(struct live_source *live);

/* Returns a descriptor that is readable if a ring fills up before the next round. Borrowed. */
int live_source_fd(const struct live_source *live);

/* Return the name of the sampling event ("cycles", "cpu-clock"), and the number of CPUs. */
const char *live_source_event(const struct live_source *live);
uint32_t live_source_cpus(const struct live_source *live);

/* Returns the number of samples and JIT records that were lost so far because a ring was full. */
uint64_t live_source_lost(struct live_source *live);

/* See attacher_deferrals() and attacher_take_holder(). */
struct attach_deferrals live_source_deferrals(const struct live_source *live);
bool live_source_take_holder(struct live_source *live, struct attach_holder *ret);

/* See jvm_loads_end(), jvm_loads_take() and jvm_loads_are_pending(). */
int live_source_end_jvms(struct live_source *live);
bool live_source_take_jvm(struct live_source *live, struct jvm_report *ret);
bool live_source_waits_for_jvm(const struct live_source *live);

/* Returns the statistics of the event loop's turns, which the loop updates. Borrowed. */
struct loop_health *live_source_health(struct live_source *live);

/* Set *ret to a source of records over live, which it borrows. */
void live_source_init_source(struct live_source *live, struct source *ret);

/* Set *ret to the names of kernel code, for one thread at a time. *ret borrows live. */
void live_source_init_kernel_source(struct live_source *live, struct kernel_source *ret);

/* Set *ret to the tables by which the BPF programs unwind. *ret borrows live. */
void live_source_init_unwind_tables(struct live_source *live, struct unwind_tables *ret);

#endif
