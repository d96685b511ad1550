/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The live kernel as a source: the BPF programs and their rings, the side-band of the perf events,
 * the start-up scan, and the publishers of JIT code (agent/publisher/publisher.h).
 *
 * Order of use: create, track (with only_tracked), drain until live_source_ready(), start, drain
 * until told to stop, stop, drain until SOURCE_END, destroy. Write outputs before destroy: the
 * kernel takes a while to detach probes.
 */
#ifndef JITBPF_AGENT_LIVE_LIVE_SOURCE_H
#define JITBPF_AGENT_LIVE_LIVE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/files/file_store.h"
#include "agent/publisher/probe_site.h"
#include "unwind/unwind_tables.h"
#include "pipeline/source.h"
#include "symbolize/symbolizer.h"

#define LIVE_ROUND_MS 50 /* drain at least this often; the rings hold several rounds */

struct live_options {
	uint32_t freq_hz;
	bool only_tracked; /* only processes given to live_source_track(), and their children */
	bool user_regs;
	size_t code_ring_bytes;	  /* rounded up to a power of two */
	size_t sample_ring_bytes; /* of each CPU; likewise */
};

struct live_source; /* see live_source.c */

/* What failed, and what to do about it where something can be done: one line for people. */
struct live_failure {
	char what[512];
	bool unsupported; /* this user or this machine cannot record at all */
};

/*
 * Load the programs, open the events, create the publishers; nothing is sampled yet. Borrows files
 * and site, which is the installed shim's. Returns 0, or negative errno with *failure set.
 */
int live_source_create(const struct live_options *options, const struct probe_site *site,
		       struct file_store *files, struct live_source **ret,
		       struct live_failure *failure);
void live_source_destroy(struct live_source *live);

/*
 * With only_tracked: profile a process and its future children; else does nothing. Returns 0 or
 * negative errno.
 */
int live_source_track(struct live_source *live, uint32_t pid);

/* Whether everything of before the run has been handed over. */
bool live_source_ready(const struct live_source *live);

/* Begin to take samples. Returns 0, or negative errno with *failure set. */
int live_source_start(struct live_source *live, struct live_failure *failure);

/* Stop taking samples. The next drains hand over what is left, and the totals. */
void live_source_stop(struct live_source *live);

/* A descriptor that is readable when a ring fills up before the next round is due. Borrowed. */
int live_source_fd(const struct live_source *live);

/* The sampling event, "cycles" or "cpu-clock", and the number of sampled CPUs. */
const char *live_source_event(const struct live_source *live);
uint32_t live_source_cpus(const struct live_source *live);

/* Samples and JIT records that found no room in their ring so far. */
uint64_t live_source_lost(struct live_source *live);

/* *ret borrows live. */
void live_source_init_source(struct live_source *live, struct source *ret);

/* The names of kernel code, for one thread at a time. *ret borrows live. */
void live_source_init_kernel_source(struct live_source *live, struct kernel_source *ret);

/* The tables that the programs unwind stacks with. *ret borrows live. */
void live_source_init_unwind_tables(struct live_source *live, struct unwind_tables *ret);

#endif
